// The executor: walks the rounds of a plan. What it does in this rank's memory is in run_memory.cpp, what it does when
// something goes wrong in run_failures.cpp.
#include "core/run/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

namespace fab::core {

namespace {

// Completions arrive inside Provider::post_* and Provider::poll, which run under the engine's lock.
Transfer& transfer_of(Completion& completion) FAB_ASSERT_CAPABILITY(engine_lock) {
  return static_cast<Transfer&>(completion);
}

}  // namespace

Post::Handlers Run::handlers() noexcept {
  return {.done =
              [](Completion& self, std::uint64_t bytes, std::uint64_t tag) noexcept {
                Transfer& transfer = transfer_of(self);
                Run& active = *transfer.run;
                const PlannedOperation& operation = *transfer.operation;
                active.last_settled_.store(&operation, std::memory_order_relaxed);
                transfer.state = Transfer::State::idle;  // so that a failure does not take it back
                if (operation.receives()) active.received(transfer, bytes, tag);
                active.settled(transfer);
              },
          .fail =
              [](Completion& self, const Status& status) noexcept {
                Transfer& transfer = transfer_of(self);
                Run& active = *transfer.run;
                if (active.doubts(transfer, status)) return;
                transfer.state = Transfer::State::idle;
                if (active.one_sided_ != nullptr) active.one_sided_->broken(*transfer.operation);
                active.broken(*transfer.operation, status);
                active.settled(transfer);
              },
          .attempt =
              [](Post& self) {
                Transfer& transfer = transfer_of(self);
                return transfer.run->repost(transfer);
              },
          .take =
              [](Completion& self, const Delivery& delivery) noexcept {
                Transfer& transfer = transfer_of(self);
                return transfer.operation->staged && transfer.run->take(transfer, delivery);
              }};
}

Run::Run(const Plan& plan, RunOwner& owner)
    : plan_(plan),
      owner_(owner),
      engine_(plan.membership().engine()),
      tags_(plan.membership().runtime().tags()),
      bases_(plan.buffer_count(), nullptr),
      staging_(plan.staging_bytes() > 0 ? allocate_shared(plan.staging_bytes()).release() : nullptr),
      scratch_(plan.schedule().scratch_bytes() > 0 ? new std::byte[plan.schedule().scratch_bytes()] : nullptr) {
  bases_[static_cast<std::size_t>(BufferId::scratch)] = scratch_.get();
  bases_[static_cast<std::size_t>(plan.staging())] = staging_.get();
  bases_[static_cast<std::size_t>(plan.surplus())] = plan.membership().runtime().surplus();
  memory_.reserve(plan.pieces().size());
  transfers_.reserve(plan.widest_round());
  addressees_.reserve(plan.most_in_common());
  for (std::size_t i = 0; i < plan.widest_round(); ++i)
    transfers_.emplace_back(*this, engine_.recorder() == nullptr ? handlers() : recording_handlers(), owner_.ways);
}

Run::~Run() = default;

void Run::prepare(std::span<std::byte* const> bases, std::uint64_t sequence_tag, const UserReduction& user) noexcept {
  bool moved = memory_.empty();
  const std::size_t given = std::min<std::size_t>(bases.size(), bases_.size() - Plan::kOwnBuffers);
  for (std::size_t i = 0; i < given; ++i)
    if (bases_[i] != bases[i] && i != static_cast<std::size_t>(BufferId::scratch)) {
      bases_[i] = bases[i];
      moved = true;
    }
  if (moved) list_memory();
  sequence_tag_ = sequence_tag;
  if (plan_.has_user_reductions()) user_ = user;
  held_ = true;
}

void Run::list_memory() noexcept {
  memory_.clear();
  for (const PlannedPiece& piece : plan_.pieces())
    memory_.push_back({address(piece.buffer, piece.offset), piece.bytes});
}

void Run::start() {
  if (pending_ > 0) return refuse_start();
  ++owner_.starts;
  if (kept_data_) let_go_of_kept_data();
  if (given_up_ || !status_.ok()) forget_failure();
  begun_ = false;
  on_hold_ = owner_.starts_on_hold;
  round_ = 0;
  used_transfers_ = 0;
  if (holds_back_) [[unlikely]]
    hold_back_again();
  done_.store(false, std::memory_order_relaxed);
  urgency = std::max(plan_.urgency(), comparison_ == nullptr ? Urgency::none : Urgency::peers);
  engine_.activated(*this);
  if (engine_.recorder() != nullptr) [[unlikely]]
    record_start();
  if (owner_.needs_thread.load(std::memory_order_relaxed)) engine_.thread_call().need();
  absences_at_start_ = engine_.thread_call().absences();
  if (one_sided_) one_sided_->next_start();
  if (may_begin()) return begin();
  // Memory that messages are written from is registered, and what is held back has not been written yet.
  if (one_sided_ == nullptr && !holds_back_) keep_data();
  engine_.raise_urgency(*this, Urgency::peers);
  engine_.begin_later(*this);
}

void Run::take_off_hold() {
  on_hold_ = false;
  if (done() || !may_begin()) return;
  engine_.forget(*this);
  begin();
}

void Run::keep_data() {
  kept_data_ = std::make_unique<KeptData>(plan_.schedule(), bases_);
  list_memory();
}

void Run::let_go_of_kept_data() noexcept {
  kept_data_->let_go(bases_);
  kept_data_.reset();
  list_memory();
}

void Run::forget_failure() {
  status_ = {};
  abandoned_ = false;
  given_up_ = false;
  all_know_ = false;
  broken_peers_.clear();
  failed_rank_ = kNoRank;
}

// Their records cannot be used twice.
void Run::refuse_start() {
  begun_ = false;
  round_ = 0;
  done_.store(false, std::memory_order_relaxed);
  engine_.activated(*this);
  if (one_sided_) one_sided_->next_start();
  status_ = {make_error_code(Errc::unreachable),
             fmt::format("{}: messages of an earlier start that failed are still being sent; make a new exchange",
                         plan_.schedule().name())};
  finish();
}

void Run::over(bool took_long) noexcept {
  const std::uint32_t absences = engine_.thread_call().absences() - absences_at_start_;
  owner_.needs_thread.store(ProgressPolicy::needs_thread(absences, took_long), std::memory_order_relaxed);
}

bool Run::may_begin() const noexcept {
  if (comparison_ != nullptr) {
    if (closes_) return closing_->done();
    if (check_ != nullptr && !check_->done()) return false;
  }
  if (on_hold_) [[unlikely]]
    return check_ != nullptr;
  if (!plan_.ready()) return plan_.failure() != nullptr;
  return one_sided_ == nullptr || one_sided_->ready();
}

void Run::begin() {
  if (comparison_ != nullptr) {
    if (closes_) return take_how_others_ended();
    if (check_ != nullptr && !passes_check()) return finish();
  }
  if (on_hold_) [[unlikely]]
    return engine_.begin_later(*this);
  run_tag_ = plan_.membership().context_tag() | sequence_tag_;
  const Status* failure = plan_.failure();
  if (failure == nullptr && one_sided_) failure = one_sided_->failure();
  if (failure != nullptr) {
    status_ = {failure->code, fmt::format("{}: {}", plan_.schedule().name(), failure->message)};
    if (const Peer* peer = plan_.failed_peer()) failed_rank_ = peer->world_rank;
    finish();
    return;
  }
  begun_ = true;
  run_rounds();
}

// Rounds follow each other in this loop, not by recursion; pending_ starts at one so that operations that settle
// inside their own post do not end the round before it is posted as a whole.
void Run::run_rounds() {
  while (round_ < plan_.round_count()) {
    pending_ = 1;
    prepare_round();
    if (engine_.recorder() != nullptr) [[unlikely]]
      record_round();
    post_round();
    if (--pending_ > 0) return;
    if (!status_.ok()) break;
    ++round_;
  }
  finish();
}

// All transfers are there before the first is posted: one that fails inside its post takes back those after it, too.
void Run::prepare_round() {
  Transfer* transfer = transfers_.data();
  for (const PlannedOperation& operation : plan_.messages(round_)) {
    if (given_up_ && is_broken(operation.peer)) continue;
    transfer->operation = &operation;
    transfer->state = Transfer::State::due;
    transfer->taken = false;
    ++transfer;
  }
  used_transfers_ = static_cast<std::uint32_t>(transfer - transfers_.data());
  pending_ += used_transfers_;
  if (holds_back_) [[unlikely]]
    copy_what_may_go();
}

bool Run::is_broken(const Peer* peer) const noexcept {
  return std::find(broken_peers_.begin(), broken_peers_.end(), peer) != broken_peers_.end();
}

inline void Run::one_less_pending() {
  if (held_back_count_ > 0 && !status_.ok()) [[unlikely]]
    give_up_held_back();
  --pending_;
  if (done()) {  // an abandoned run's last sends
    if (pending_ == 0 && !held_) recycle();
    return;
  }
  if (pending_ > 0) {
    if (given_up_ && pending_ == sends_given_up()) finish();
    return;
  }
  if (!status_.ok()) {
    finish();
    return;
  }
  ++round_;
  run_rounds();
}

inline void Run::settled(Transfer& transfer) {
  transfer.state = Transfer::State::idle;
  count_settled();
  one_less_pending();
}

[[gnu::always_inline]] inline PostResult Run::post(Transfer& transfer) {
  const PlannedOperation& operation = *transfer.operation;
  const std::span<const iovec> pieces = memory(operation);
  if (operation.channel != PlannedOperation::kNoChannel) return one_sided_->post(transfer, pieces);
  const Peer& peer = *operation.peer;
  // No part overtakes the one before it: an inbox that takes in a first part expects the others.
  if (operation.part == PlannedOperation::Part::later && (&transfer - 1)->state == Transfer::State::refused)
    return PostResult::again;
  if (operation.receives()) return peer.post_recv(pieces, tag_of(operation), tags_, transfer);
  if (engine_.recorder() != nullptr) [[unlikely]]
    return send_and_record(transfer, pieces);
  return peer.provider->post_repeated(peer.handle, pieces, tag_of(operation), transfer);
}

// A start is little else than this for each message, and a call of it was a tenth of its time.
[[gnu::always_inline]] inline bool Run::try_to_post(Transfer& transfer) {
  transfer.state = Transfer::State::posted;
  return posted(transfer, post(transfer));
}

[[gnu::always_inline]] inline bool Run::posted(Transfer& transfer, PostResult result) {
  switch (result) {
    case PostResult::done:
      settled(transfer);
      return true;
    case PostResult::pending:
      return true;
    case PostResult::again:
      refused(transfer);
  }
  return false;
}

bool Run::repost(Transfer& transfer) { return try_to_post(transfer); }

// All are taken for posted before the first is, so that none that fails takes back others in the middle.
void Run::post_to_all(std::span<Transfer> from_first) {
  const PlannedOperation& first = *from_first.front().operation;
  addressees_.clear();
  for (Transfer& transfer : from_first) {
    const PlannedOperation& operation = *transfer.operation;
    if (operation.common != first.common || transfer.state != Transfer::State::due) continue;
    transfer.state = Transfer::State::posted;
    addressees_.push_back({operation.peer->handle, tag_of(operation), &transfer});
  }
  const std::span<const iovec> pieces = memory(first);
  if (engine_.recorder() != nullptr) [[unlikely]]
    send_to_all_and_record(pieces);
  else
    first.peer->provider->post_send_to_all(addressees_, pieces);
  for (const Addressee& each : addressees_) posted(static_cast<Transfer&>(*each.completion), each.result);
}

// One that fails takes others back, and the last one that settles may end the run: not before all have been posted.
void Run::repost(std::span<Transfer*> waiting) {
  ++pending_;
  for (Transfer*& transfer : waiting)
    if (transfer != nullptr) repost(*std::exchange(transfer, nullptr));
  one_less_pending();
}

void Run::post_round() {
  const bool has_common = plan_.most_in_common() > 0 && !holds_back_;
  for (Transfer& transfer : std::span(transfers_).first(used_transfers_)) {
    if (transfer.state != Transfer::State::due) continue;
    if (held_back_count_ > 0 && is_held_back(static_cast<std::size_t>(&transfer - transfers_.data()))) continue;
    if (has_common && transfer.operation->common != 0) {
      post_to_all({&transfer, transfers_.data() + used_transfers_});
      continue;
    }
    // A part is packed while the one before it travels.
    if (transfer.operation->packs()) stage_send(*transfer.operation);
    try_to_post(transfer);
  }
  // Local operations come last, while messages travel.
  const auto operations = plan_.local_operations(round_);
  if (operations.empty()) return;
  if (holds_back_) return;  // copy_what_may_go
  if (plan_.has_user_reductions() && defers_user_work_ && calls_user(operations)) {
    ++pending_;
    has_user_work_ = true;
    return engine_.add_user_work(*this);
  }
  do_operations(operations);
  if (unequal_ != nullptr) fail_unequal();
}

// While this rank's own part of the round is pending, no other code changes what this reads, and the run does not end.
void Run::do_user_work() { do_operations(plan_.local_operations(round_)); }

void Run::local_operations_done() {
  if (unequal_ != nullptr) fail_unequal();
  count_settled();
  one_less_pending();
}

void Run::refused(Transfer& transfer) {
  transfer.state = Transfer::State::refused;
  const PlannedOperation& operation = *transfer.operation;
  if (operation.receives() || operation.channel != PlannedOperation::kNoChannel)
    engine_.retry_later(transfer);
  else
    engine_.retry_later(transfer, operation.peer->refused_sends);
}

// What the provider has in its hands need not go through the staging memory, unless it is not what was expected.
bool Run::take(Transfer& transfer, const Delivery& delivery) noexcept {
  const PlannedOperation& operation = *transfer.operation;
  const bool framed = (delivery.tag & tags_.framed()) != 0;
  if (delivery.message_bytes != operation.message_bytes || framed != (operation.frame_bytes > 0)) return false;
  if (delivery.offset < operation.frame_bytes) {
    const auto frame =
        delivery.bytes.first(std::min<std::size_t>(delivery.bytes.size(), operation.frame_bytes - delivery.offset));
    std::ranges::copy(frame, staging_.get() + operation.staging_offset + delivery.offset);
  }
  unpack(operation, delivery.offset, delivery.bytes);
  transfer.taken = true;
  return true;
}

// Most messages have no frame, and the length that was declared.
inline void Run::received(Transfer& transfer, std::uint64_t bytes, std::uint64_t tag) {
  const PlannedOperation& operation = *transfer.operation;
  const bool has_frame = (tag & tags_.framed()) != 0;
  if (has_frame || operation.frame_bytes > 0 || bytes != operation.bytes) look_at(operation, bytes, has_frame);
  if (operation.staged && !transfer.taken && status_.ok()) unpack(operation);
}

void Run::look_at(const PlannedOperation& operation, std::uint64_t bytes, bool has_frame) {
  if (!has_frame || bytes < FrameHead::kBytes || operation.part == PlannedOperation::Part::later)
    return compare(operation, bytes, nullptr);
  const FrameHead frame = read_frame(operation);
  if (const auto notice = find_notice(frame)) return on_failure_notice(*notice, operation);
  compare(operation, bytes, &frame);
}

// A part that is framed where none was expected, or the other way round, comes from a rank with other sizes.
void Run::compare(const PlannedOperation& operation, std::uint64_t bytes, const FrameHead* frame) {
  const bool first_part = operation.part != PlannedOperation::Part::later;
  const bool expects_frame = operation.frame_bytes > 0 && first_part;
  const Errc before = status_.errc();
  const std::uint64_t sent_bytes = frame != nullptr ? frame->message_bytes : bytes;
  const std::uint64_t expected_bytes = first_part ? operation.message_bytes : operation.bytes;
  if (frame != nullptr && expects_frame) {
    compare_frame(operation);
    if (sent_bytes == expected_bytes && status_.errc() == before) return;
  } else if (frame == nullptr && !expects_frame && bytes == operation.bytes) {
    return;
  } else {
    fail(operation, sent_bytes > expected_bytes ? Errc::truncated : Errc::mismatch,
         fmt::format("{} bytes arrived where {} were declared; the two ends of an edge must agree about its size",
                     sent_bytes, expected_bytes));
  }
  if (first_part) discard_rest(operation, frame != nullptr ? *frame : FrameHead{.blocks = 1, .message_bytes = bytes});
}

// The frame lies wherever the receive put it: in staging memory if one was expected, else in the user's block.
FrameHead Run::read_frame(const PlannedOperation& operation) const {
  std::array<std::byte, FrameHead::kBytes> frame{};
  std::size_t filled = 0;
  for (const PlannedPiece& piece : plan_.pieces(operation)) {
    const std::size_t bytes = std::min<std::size_t>(piece.bytes, frame.size() - filled);
    if (bytes > 0) std::memcpy(frame.data() + filled, address(piece.buffer, piece.offset), bytes);
    filled += bytes;
  }
  return read_frame_head(frame.data());
}

void Run::finish() noexcept {
  if (!status_.ok()) {
    if (one_sided_ != nullptr) one_sided_->end_start(status_);
    if (!all_know_) notify_dependents();
  }
  if (closing_ == nullptr || tell_how_it_ended()) end();
}

void Run::end() noexcept {
  Membership& membership = plan_.membership();
  membership.run_finished();
  if (engine_.recorder() != nullptr) [[unlikely]]
    record_end();
  CallScope& scope = membership.scope();
  if (held_ && (!status_.ok() || scope.given_up_for != kNoRank))
    membership.runtime().losses().ended(*this, scope, failed_rank_);
  done_.store(true, std::memory_order_release);
  engine_.deactivated(*this);
  if (!held_ && pending_ == 0) recycle();
}

// Something is pending from the moment at which the run begins, so nothing means that it has not begun.
bool Run::has_arrived(const Arrival& arrival) const noexcept {
  if (done() || closes_) return true;
  if (pending_ == 0 || round_ < arrival.round) return false;
  if (round_ > arrival.round) return true;
  if (arrival.count > 0 && arrival.first >= used_transfers_) return are_copied(arrival);
  const auto is_idle = [](const Transfer& transfer) { return transfer.state == Transfer::State::idle; };
  const auto parts = std::span(transfers_).first(used_transfers_).subspan(arrival.first, arrival.count);
  return std::all_of(parts.begin(), parts.end(), is_idle);
}

void Run::let_go() noexcept {
  held_ = false;
  if (done() && pending_ == 0)
    recycle();
  else
    keep_communicator_ = plan_.membership().shared_from_this();
}

// Last: a plan that the cache has dropped ends with its last run.
void Run::recycle() noexcept {
  const std::shared_ptr<Membership> communicator = std::move(keep_communicator_);
  owner_.release(*this);
}

}  // namespace fab::core
