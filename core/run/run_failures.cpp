// Failures of a run: it records the error, cancels receives that cannot complete, tells its peers, or gives up.
#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "core/run/run.h"

namespace fab::core {

std::string Run::describe(const PlannedOperation& operation) const {
  if (operation.peer == nullptr) return operation.kind == OperationKind::reduce ? "local reduction" : "local copy";
  const OperationRecord& record = *operation.record;
  return fmt::format("{} rank {} ({} B, slot {}, through {})",
                     record.kind == OperationKind::send ? "send to" : "receive from",
                     plan_.schedule().peers()[record.peer], record.bytes, record.slot,
                     operation.peer->provider != nullptr ? operation.peer->provider->description() : "no provider yet");
}

// The first failure is the run's. Other transfers end by themselves: their peers are in the same exchange.
void Run::fail(const PlannedOperation& operation, Errc code, const std::string& fault) {
  if (!status_.ok()) return;
  status_ = {code, fmt::format("{}: {}: {}", plan_.schedule().name(), describe(operation), fault)};
}

void Run::fail_unequal() {
  const PlannedOperation& operation = *std::exchange(unequal_, nullptr);
  const auto blocks = plan_.schedule().blocks(*operation.record);
  fail(operation, blocks[0].bytes > blocks[1].bytes ? Errc::truncated : Errc::mismatch,
       fmt::format("this rank sends itself {} bytes where it receives {}", blocks[0].bytes, blocks[1].bytes));
}

// Takes back receives and what is not posted, and, where the caller has given up, sends whose memory a peer may read.
// Those settle by their handlers.
template <class Choose>
void Run::take_back(Choose&& choose) {
  for (std::uint32_t i = 0; i < used_transfers_; ++i) {
    Transfer& transfer = transfers_[i];
    if (transfer.state == Transfer::State::idle || !choose(transfer)) continue;
    if (transfer.state != Transfer::State::posted) {
      engine_.forget(transfer);
      transfer.state = Transfer::State::idle;
      --pending_;
    } else if (one_sided_ != nullptr && one_sided_->cancel(transfer)) {
      // Its handler has settled it.
    } else if (transfer.operation->channel != PlannedOperation::kNoChannel) {
      // What was written is written.
    } else if (transfer.operation->receives()) {
      transfer.operation->peer->provider->cancel(transfer);
    } else if (abandoned_) {
      static_cast<void>(transfer.operation->peer->provider->take_back(transfer));
    }
  }
}

void Run::compare_frame(const PlannedOperation& operation) {
  const auto blocks = plan_.schedule().blocks(*operation.record);
  const FrameCheck check =
      check_frame(blocks, plan_.membership().call_word(plan_.schedule()), staging_.get() + operation.staging_offset);
  switch (check.fault) {
    case FrameFault::none:
      return;
    case FrameFault::other_call:
      fail(operation, Errc::mismatch, fmt::format("the sender called {}", name_of_call(check.sender_call)));
      // Which messages that call sends is not known, but for the later parts of this one: see discard_rest.
      return take_back_other_messages(operation);
    case FrameFault::other_blocks:
      return fail(operation, Errc::mismatch,
                  fmt::format("the sender has {} edges to this rank where this rank has {}", check.sender_bytes,
                              blocks.size()));
    default:
      return fail(operation, check.fault == FrameFault::too_long ? Errc::truncated : Errc::mismatch,
                  fmt::format("the sender gave block {} of this message {} bytes where {} were declared", check.block,
                              check.sender_bytes, blocks[check.block].bytes));
  }
}

// After a disagreement about sizes: throws away what the sender sends and this rank does not expect, which would hold
// up later messages, and takes back what this rank expects and the sender does not send.
void Run::discard_rest(const PlannedOperation& operation, const FrameHead& sent) {
  Discards& discards = plan_.membership().runtime().discards();
  if (operation.peer->in_parts()) {
    const auto expected = parts_of(operation.message_bytes, tags_);
    const auto coming = parts_of(sent.message_bytes, tags_);
    discards.later_parts(*operation.peer, tag_of(operation), coming, expected);
    take_back_later_parts(operation, coming);
  }
  const auto blocks = plan_.schedule().blocks(*operation.record);
  if (sent.blocks > blocks.size()) {
    take_back_other_messages(operation);
  } else if (sent.blocks < blocks.size()) {
    for (const BlockRecord& block : blocks.subspan(static_cast<std::size_t>(sent.blocks)))
      discards.message(*operation.peer, run_tag_ | tags_.message(operation.peer->world_rank, block.slot));
  }
}

bool Run::doubts(Transfer& transfer, const Status& status) {
  if (one_sided_ == nullptr || !one_sided_->may_be_refused(*transfer.operation)) return false;
  return plan_.membership().runtime().losses().doubt(*this, transfer, *transfer.operation->peer, status);
}

// The provider could not do it: nothing more will come from, or go to, this peer.
void Run::broken(const PlannedOperation& operation, const Status& status) {
  if (status.errc() == Errc::cancelled && !status_.ok()) {
    if (abandoned_) tell(operation);
    return;
  }
  Losses& losses = plan_.membership().runtime().losses();
  const Status reason = not_taken_back(status);
  const Rank failed_rank = losses.note(*operation.peer, reason);
  if (status_.ok()) failed_rank_ = failed_rank;
  fail(operation, reason.errc(), losses.explain(failed_rank, *operation.peer, reason));
  give_up(*operation.peer);
  take_back([&operation](const Transfer& transfer) { return transfer.operation->peer == operation.peer; });
}

void Run::visit_peers(const PeerVisitor& visit) const {
  for (std::uint32_t i = 0; i < used_transfers_; ++i)
    if (transfers_[i].state != Transfer::State::idle) visit(*transfers_[i].operation->peer);
}

// What the provider still has of sends to that peer may never end. It only reads, and no run waits for it.
void Run::peer_lost(const Peer& peer, const Status& reason) {
  const auto concerns = [&peer](const Transfer& transfer) {
    return transfer.state != Transfer::State::idle && transfer.operation->peer == &peer;
  };
  const auto used = std::span(transfers_).first(used_transfers_);
  const auto found = std::ranges::find_if(used, concerns);
  if (done() || found == used.end()) return;
  const PlannedOperation& operation = *found->operation;
  ++pending_;  // so that receives that settle inside cancel do not finish the run twice
  broken(operation, reason);
  --pending_;
  finish_if_given_up();
}

void Run::finish_if_given_up() {
  if (held_back_count_ > 0 && !status_.ok()) give_up_held_back();
  if (!done() && pending_ == sends_given_up()) finish();
}

// A rank that gave up after FAB_WAIT_TIMEOUT does not know by whose fault. Perhaps this one waits for that rank.
void Run::on_failure_notice(const FailureNotice& notice, const PlannedOperation& operation) {
  if (status_.ok()) failed_rank_ = notice.failed_rank;
  plan_.membership().runtime().losses().on_failure_notice(notice);
  const std::string whose =
      notice.failed_rank == kNoRank ? "" : fmt::format(" with rank {} of the job", notice.failed_rank);
  const std::string rest = notice.code == Errc::timed_out && status_.ok() ? describe_pending() : "";
  fail(operation, notice.code,
       fmt::format("that rank failed{} ({}){}{}", whose, make_error_code(notice.code).message(),
                   rest.empty() ? "" : "; still pending here: ", rest));
  take_back_later_parts(operation, {});
}

// Of a run in which nothing happens. A peer that has refused the call will send nothing, take nothing and be told
// nothing; all others are.
void Run::stalled() {
  Membership& communicator = plan_.membership();
  if (done() || closes_ || !communicator.has_context_id()) return;
  Refusals& refusals = communicator.runtime().refusals();
  if (const auto* refusal = refusals.find({communicator.context_id(), place_})) {
    // That rank may have given up after FAB_WAIT_TIMEOUT, for want of another one for which this rank waits, too.
    const std::string rest = describe_pending();
    blame(refusal->rank);
    if (check_ != nullptr) check_->blame(refusal->rank);
    return abandon({make_error_code(Errc::mismatch),
                    fmt::format("{}: rank {} of the job has refused this call: {}; still pending here: {}", name(),
                                refusal->rank, refusal->reason, rest)});
  }
  if (check_ != nullptr) return check_->ask_peers();
  ask_peers();
}

void Run::blame(Rank failed_rank) {
  failed_rank_ = failed_rank;
  for (const Peer* peer : plan_.peers())
    if (peer->world_rank == failed_rank) give_up(*peer);
}

void Run::give_up(const Peer& peer) {
  given_up_ = true;
  if (!is_broken(&peer)) broken_peers_.push_back(&peer);
}

void Run::ask_peers() {
  Refusals& refusals = plan_.membership().runtime().refusals();
  if (!begun_)
    for (const Peer* peer : plan_.peers()) refusals.ask(peer->world_rank);
  for (std::uint32_t i = 0; i < used_transfers_; ++i)
    if (transfers_[i].state != Transfer::State::idle) refusals.ask(transfers_[i].operation->peer->world_rank);
}

void Run::take_back_other_messages(const PlannedOperation& message) {
  take_back([&](const Transfer& transfer) {
    return transfer.operation->peer == message.peer && transfer.operation->record != message.record;
  });
}

void Run::take_back_later_parts(const PlannedOperation& head, std::span<const MessagePart> but) {
  const std::uint64_t tag = tag_of(head) & ~tags_.framed();
  take_back([&](const Transfer& transfer) {
    const PlannedOperation& operation = *transfer.operation;
    return operation.record == head.record && operation.part == PlannedOperation::Part::later &&
           std::ranges::none_of(but, [&](const MessagePart& part)
                                         FAB_REQUIRES(engine_lock) { return tag_of(operation) == (tag | part.mark); });
  });
}

// A message of a round that does not come any more: its receiver must not wait for it.
void Run::tell(const PlannedOperation& operation) {
  using Part = PlannedOperation::Part;
  const bool whole_or_head = operation.part == Part::whole || operation.part == Part::head;
  if (!whole_or_head || operation.channel != PlannedOperation::kNoChannel) return;
  if (operation.peer->state != Peer::State::ready || is_broken(operation.peer)) return;
  Runtime& runtime = plan_.membership().runtime();
  if (runtime.losses().has_lost(operation.peer->world_rank)) return;
  if (operation.receives())
    runtime.discards().message(*operation.peer, tag_of(operation) & ~tags_.framed());
  else
    runtime.notices().send(*operation.peer, tag_of(operation) | tags_.framed(), {failed_rank_, status_.errc()});
}

// All ranks end their rounds in this way, so each message of the schedule is sent, or a notice in its place, and each
// one that was sent is received, or thrown away.
void Run::notify_dependents() {
  if (!plan_.membership().has_context_id()) return;
  if (!begun_) run_tag_ = plan_.membership().context_tag() | sequence_tag_;
  for (std::size_t round = round_ + (begun_ ? 1 : 0); round < plan_.round_count(); ++round)
    for (const PlannedOperation& operation : plan_.messages(round)) tell(operation);
}

std::uint32_t Run::sends_given_up() const noexcept {
  std::uint32_t sends = 0;
  for (std::uint32_t i = 0; i < used_transfers_; ++i) {
    const Transfer& transfer = transfers_[i];
    if (transfer.state != Transfer::State::posted || transfer.operation->receives()) continue;
    if (abandoned_ || is_broken(transfer.operation->peer)) ++sends;
  }
  return sends;
}

void Run::abandon_for(Rank failed_rank, const Status& reason) {
  if (!done() && status_.ok()) failed_rank_ = failed_rank;
  abandon(reason);
}

void Run::abandon(const Status& reason) {
  if (done()) return;
  if (status_.ok()) status_ = reason;
  abandoned_ = true;
  given_up_ = true;
  engine_.forget(*this);
  if (Run* check = std::exchange(check_, nullptr)) {
    check->abandon(reason);
    check->let_go();
  }
  if (std::exchange(closes_, false)) {
    closing_->abandon(reason);
    std::exchange(closing_, nullptr)->let_go();
    return end();
  }
  if (std::exchange(has_user_work_, false)) --pending_;
  if (held_back_count_ > 0) give_up_held_back();
  for (std::uint32_t i = 0; i < used_transfers_; ++i)
    if (transfers_[i].state == Transfer::State::due || transfers_[i].state == Transfer::State::refused)
      tell(*transfers_[i].operation);
  ++pending_;  // so that receives that settle inside cancel do not finish the run twice
  take_back([](const Transfer&) { return true; });
  --pending_;
  finish_if_given_up();
}

namespace {

/// What is pending, as text. The parts of one message, which say the same one after the other, are one item.
class PendingItems {
 public:
  void add(const std::string& item) {
    if (item == last_) {
      ++parts_;
      return;
    }
    end_item();
    text_ += (text_.empty() ? "" : "; ") + item;
    last_ = item;
  }
  [[nodiscard]] std::string text() {
    end_item();
    return std::move(text_);
  }

 private:
  void end_item() {
    if (parts_ > 1) text_ += fmt::format(" in {} parts", parts_);
    parts_ = 1;
  }

  std::string text_;
  std::string last_;
  int parts_ = 1;
};

}  // namespace

std::string Run::describe_pending() const {
  PendingItems items;
  const auto add = [&items](const std::string& item) { items.add(item); };
  if (check_ != nullptr && !check_->done())
    add(check_->describe_pending() + " of the comparison of calls");
  else if (on_hold_)
    add("what this rank does before it");
  else if (!plan_.ready())
    add(plan_.missing_peers());
  else if (one_sided_ != nullptr && !one_sided_->ready())
    add(one_sided_->describe_pending());
  for (std::uint32_t i = 0; i < used_transfers_; ++i)
    if (transfers_[i].state != Transfer::State::idle)
      add(describe(*transfers_[i].operation) + (is_held_back(i) ? ", whose parts are not all ready" : ""));
  if (begun_)
    for (std::size_t i = used_transfers_; i < held_back_.size(); ++i)
      if (is_held_back(i)) add("local copy, whose parts are not all ready");
  if (closes_) add(closing_->describe_pending() + " of the comparison of how calls ended");
  if (has_user_work_) add("a thread that waits or tests, for a user-defined reduction");
  return items.text();
}

}  // namespace fab::core
