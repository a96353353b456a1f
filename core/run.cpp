// The executor: walks the rounds of a plan.
#include "core/run.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "core/communicator.h"
#include "core/context.h"

namespace fab::core {

namespace {

// Completions arrive inside Provider::post_* and Provider::poll, which run under the engine's lock.
Transfer& transfer_of(Completion& completion) { return static_cast<Transfer&>(completion); }

}  // namespace

Transfer::Transfer(Run& its_run) noexcept
    : Completion(
          [](Completion& self, std::uint64_t bytes, std::uint64_t tag) noexcept {
            Transfer& transfer = transfer_of(self);
            Run& active = *transfer.run;
            transfer.state = State::idle;  // so that a failure does not take it back
            if (transfer.operation->record->kind == OperationKind::recv) active.received(transfer, bytes, tag);
            active.settled(transfer);
          },
          [](Completion& self, const Status& status) noexcept {
            Transfer& transfer = transfer_of(self);
            Run& active = *transfer.run;
            transfer.state = State::idle;
            if (status.errc() != Errc::cancelled || active.status_.ok())
              active.fail(*transfer.operation, status.errc(), status.message);
            active.settled(transfer);
          }),
      run(&its_run) {}

Run::Run(Plan& plan)
    : plan_(plan),
      bases_(plan.buffer_count(), nullptr),
      scratch_(plan.schedule().scratch_bytes() > 0 ? new std::byte[plan.schedule().scratch_bytes()] : nullptr),
      staging_(plan.staging_bytes() > 0 ? new std::byte[plan.staging_bytes()] : nullptr) {
  bases_[static_cast<std::size_t>(BufferId::scratch)] = scratch_.get();
  bases_[static_cast<std::size_t>(plan.staging())] = staging_.get();
  bases_[static_cast<std::size_t>(plan.surplus())] = plan.communicator().context().surplus();
  transfers_.reserve(plan.widest_round());
  for (std::size_t i = 0; i < plan.widest_round(); ++i) transfers_.emplace_back(*this);
}

void Run::start(std::span<std::byte* const> bases, std::uint64_t sequence) {
  keep_plan_ = plan_.shared_from_this();
  keep_communicator_ = plan_.communicator().shared_from_this();
  for (std::size_t i = 0; i < bases.size() && i < plan_.schedule().buffer_count(); ++i)
    if (i != static_cast<std::size_t>(BufferId::scratch)) bases_[i] = bases[i];
  held_ = true;
  abandoned_ = false;
  status_ = {};
  round_ = 0;
  used_transfers_ = 0;
  pending_ = 0;
  sequence_tag_ = plan_.communicator().context().tags().sequence(sequence);
  done_.store(false, std::memory_order_relaxed);
  plan_.communicator().engine().activated();
  if (may_begin())
    begin();
  else
    plan_.communicator().engine().begin_later(*this);
}

bool Run::may_begin() const noexcept { return plan_.ready() || plan_.failure() != nullptr; }

void Run::begin() {
  if (const Status* failure = plan_.failure()) {
    status_ = {failure->code, fmt::format("{}: {}", plan_.schedule().name(), failure->message)};
    finish();
    return;
  }
  run_rounds();
}

// Rounds follow each other in this loop, not by recursion; pending_ starts at one so that operations that settle
// inside their own post do not end the round before it is posted as a whole.
void Run::run_rounds() {
  const auto rounds = plan_.schedule().rounds();
  while (round_ < rounds.size()) {
    pending_ = 1;
    used_transfers_ = 0;
    for (const PlannedOperation& operation : plan_.operations(round_)) execute(operation);
    if (--pending_ > 0) return;
    if (!status_.ok()) break;
    ++round_;
  }
  finish();
}

void Run::execute(const PlannedOperation& operation) {
  if (operation.record->kind == OperationKind::copy) {
    copy(operation);
    return;
  }
  Transfer& transfer = transfers_[used_transfers_++];
  transfer.operation = &operation;
  ++pending_;
  // The rest of a long message counts as on its way from here on, should the head complete first.
  if (operation.part == PlannedOperation::Part::head) transfers_[used_transfers_].state = Transfer::State::posted;
  const bool first_part = operation.part != PlannedOperation::Part::rest;
  if (operation.record->kind == OperationKind::send && first_part) stage_send(operation);
  repost(transfer);
}

bool Run::repost(Transfer& transfer) {
  transfer.state = Transfer::State::posted;
  const PostResult result = post(transfer);
  if (result == PostResult::done) settled(transfer);
  if (result != PostResult::again) return true;
  transfer.state = Transfer::State::refused;
  plan_.communicator().engine().retry_later(transfer);
  return false;
}

PostResult Run::post(Transfer& transfer) {
  const PlannedOperation& operation = *transfer.operation;
  std::array<iovec, kMaxPieces> pieces;
  std::size_t count = 0;
  for (const PlannedPiece& piece : plan_.pieces(operation))
    pieces[count++] = {address(piece.buffer, piece.offset), piece.bytes};
  const std::span<const iovec> memory(pieces.data(), count);
  Provider& provider = *operation.peer->provider;
  if (operation.record->kind == OperationKind::send)
    return provider.post_send(operation.peer->handle, memory, tag_of(operation), transfer);
  return provider.post_recv(operation.peer->handle, memory, tag_of(operation),
                            plan_.communicator().context().tags().framed(), transfer);
}

std::uint64_t Run::tag_of(const PlannedOperation& operation) const noexcept {
  return plan_.communicator().context_tag() | sequence_tag_ | operation.message_tag;
}

std::byte* Run::address(BufferId buffer, std::int64_t offset) const noexcept {
  return bases_[static_cast<std::size_t>(buffer)] + offset;
}

void Run::stage_send(const PlannedOperation& operation) {
  const auto blocks = plan_.schedule().blocks(*operation.record);
  if (operation.frame_bytes > 0)
    write_frame(blocks, plan_.communicator().call_word(plan_.schedule()), staging_.get() + operation.staging_offset);
  if (!operation.staged) return;
  std::byte* out = staging_.get() + operation.staging_offset + operation.frame_bytes;
  for (const BlockRecord& block : blocks) {
    if (block.bytes == 0) continue;
    const std::byte* base = address(block.buffer, block.offset);
    if (block.node_count == 0)
      std::memcpy(out, base, block.bytes);
    else
      pack(plan_.schedule().nodes(block), base, out);
    out += block.bytes;
  }
}

void Run::unpack(const PlannedOperation& operation) {
  const std::byte* in = staging_.get() + operation.staging_offset + operation.frame_bytes;
  for (const BlockRecord& block : plan_.schedule().blocks(*operation.record)) {
    if (block.bytes == 0) continue;
    std::byte* base = address(block.buffer, block.offset);
    if (block.node_count == 0)
      std::memcpy(base, in, block.bytes);
    else
      fab::unpack(plan_.schedule().nodes(block), in, base);
    in += block.bytes;
  }
}

void Run::copy(const PlannedOperation& operation) {
  const auto blocks = plan_.schedule().blocks(*operation.record);
  const BlockRecord& from = blocks[0];
  const BlockRecord& to = blocks[1];
  if (from.bytes != to.bytes) {
    const bool longer = from.bytes > to.bytes;
    fail(operation, longer ? Errc::truncated : Errc::mismatch,
         fmt::format("this rank sends itself {} bytes where it receives {}", from.bytes, to.bytes));
    return;
  }
  if (from.bytes == 0) return;
  const std::byte* source = address(from.buffer, from.offset);
  std::byte* target = address(to.buffer, to.offset);
  const auto from_nodes = plan_.schedule().nodes(from);
  const auto to_nodes = plan_.schedule().nodes(to);
  if (from_nodes.empty() && to_nodes.empty()) {
    std::memmove(target, source, from.bytes);
  } else if (to_nodes.empty()) {
    pack(from_nodes, source, target);
  } else if (from_nodes.empty()) {
    fab::unpack(to_nodes, source, target);
  } else {
    std::byte* middle = staging_.get() + operation.staging_offset;
    pack(from_nodes, source, middle);
    fab::unpack(to_nodes, middle, target);
  }
}

void Run::received(Transfer& transfer, std::uint64_t bytes, std::uint64_t tag) {
  const PlannedOperation& operation = *transfer.operation;
  compare(operation, bytes, (tag & plan_.communicator().context().tags().framed()) != 0);
  if (!status_.ok() || !operation.staged) return;
  // The parts of a long message stand side by side, and the later one to arrive unpacks both.
  using Part = PlannedOperation::Part;
  const Transfer* other = operation.part == Part::whole ? nullptr : &transfer + (operation.part == Part::head ? 1 : -1);
  if (other == nullptr || other->state == Transfer::State::idle) unpack(operation);
}

// A part that is framed where none was expected, or the other way round, comes from a rank with other sizes.
void Run::compare(const PlannedOperation& operation, std::uint64_t bytes, bool framed) {
  const bool expects_frame = operation.frame_bytes > 0 && operation.part != PlannedOperation::Part::rest;
  if (framed && expects_frame && bytes >= operation.frame_bytes) {
    compare_frame(operation);
  } else if (framed == expects_frame && bytes == operation.bytes) {
    return;
  } else {
    const bool longer = bytes > operation.bytes || (framed && !expects_frame && bytes == kHeadBytes);
    fail(operation, longer ? Errc::truncated : Errc::mismatch,
         fmt::format("{} bytes arrived where {} were declared; the two ends of an edge must agree about its size (and all "
                     "ranks about FAB_COMBINE_BYTES and FAB_CHECK)",
                     longer && bytes == kHeadBytes ? fmt::format("{} or more", bytes) : fmt::to_string(bytes),
                     operation.bytes));
  }
}

void Run::compare_frame(const PlannedOperation& operation) {
  const auto blocks = plan_.schedule().blocks(*operation.record);
  const FrameCheck check = check_frame(blocks, plan_.communicator().call_word(plan_.schedule()),
                                       staging_.get() + operation.staging_offset);
  if (check.fault == FrameFault::none) return;
  if (check.fault == FrameFault::other_call) {
    fail(operation, Errc::mismatch, "the sender is in another call");
    return;
  }
  fail(operation, check.fault == FrameFault::too_long ? Errc::truncated : Errc::mismatch,
       fmt::format("the sender gave block {} of this message {} bytes where {} were declared", check.block,
                   check.sender_bytes, blocks[check.block].bytes));
}

void Run::settled(Transfer& transfer) {
  transfer.state = Transfer::State::idle;
  settled_count_.fetch_add(1, std::memory_order_relaxed);
  --pending_;
  if (done()) {  // an abandoned run's last sends
    if (pending_ == 0 && !held_) recycle();
    return;
  }
  if (pending_ > 0) {
    if (abandoned_ && pending_ == sends_in_flight()) finish();
    return;
  }
  if (!status_.ok()) {
    finish();
    return;
  }
  ++round_;
  run_rounds();
}

// The first failure is the run's. What the same peer still owes will not come as this rank expects it; other peers'
// transfers end by themselves.
void Run::fail(const PlannedOperation& operation, Errc code, const std::string& fault) {
  if (!status_.ok()) return;
  status_ = {code, fmt::format("{}: {}: {}", plan_.schedule().name(), describe(operation), fault)};
  if (operation.peer != nullptr) take_back(operation.peer);
}

// Takes back receives and refused posts, of one peer or (nullptr) of all. Cancelled receives settle by their handler.
void Run::take_back(const Peer* peer) {
  for (std::uint32_t i = 0; i < used_transfers_; ++i) {
    Transfer& transfer = transfers_[i];
    if (peer != nullptr && transfer.operation->peer != peer) continue;
    if (transfer.state == Transfer::State::refused) {
      plan_.communicator().engine().forget(transfer);
      transfer.state = Transfer::State::idle;
      --pending_;
    } else if (transfer.state == Transfer::State::posted && transfer.operation->record->kind == OperationKind::recv) {
      transfer.operation->peer->provider->cancel(transfer);
    }
  }
}

void Run::abandon(const Status& reason) {
  if (done()) return;
  if (status_.ok()) status_ = reason;
  abandoned_ = true;
  plan_.communicator().engine().forget(*this);
  ++pending_;  // so that receives that settle inside cancel do not finish the run twice
  take_back(nullptr);
  --pending_;
  if (!done() && pending_ == sends_in_flight()) finish();
}

std::uint32_t Run::sends_in_flight() const noexcept {
  std::uint32_t sends = 0;
  for (std::uint32_t i = 0; i < used_transfers_; ++i)
    if (transfers_[i].state == Transfer::State::posted && transfers_[i].operation->record->kind == OperationKind::send)
      ++sends;
  return sends;
}

void Run::finish() noexcept {
  plan_.communicator().run_finished();
  done_.store(true, std::memory_order_release);
  plan_.communicator().engine().deactivated();
  if (!held_ && pending_ == 0) recycle();
}

void Run::let_go() noexcept {
  held_ = false;
  if (done() && pending_ == 0) recycle();
}

// Last: dropping the plan may end this run's life.
void Run::recycle() noexcept {
  const std::shared_ptr<Communicator> communicator = std::move(keep_communicator_);
  const std::shared_ptr<Plan> plan = std::move(keep_plan_);
  plan->release(*this);
}

std::string Run::describe(const PlannedOperation& operation) const {
  if (operation.peer == nullptr) return "local copy";
  const OperationRecord& record = *operation.record;
  return fmt::format("{} rank {} ({} B, slot {}, through {})",
                     record.kind == OperationKind::send ? "send to" : "receive from",
                     plan_.schedule().peers()[record.peer], record.bytes, record.slot,
                     operation.peer->provider != nullptr ? operation.peer->provider->description() : "no provider yet");
}

std::string Run::describe_pending() const {
  std::string text;
  const auto add = [&text](const std::string& item) { text += (text.empty() ? "" : "; ") + item; };
  if (!plan_.ready()) add(plan_.missing_peers());
  for (std::uint32_t i = 0; i < used_transfers_; ++i)
    if (transfers_[i].state != Transfer::State::idle) add(describe(*transfers_[i].operation));
  return text;
}

}  // namespace fab::core
