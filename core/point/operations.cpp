#include "core/point/operations.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "core/point/own_tag.h"

namespace fab::core {

namespace {

std::string text_of(Tag tag) {
  if (is_own(tag)) return "fab's own";
  return tag == kAnyTag ? "any" : std::to_string(static_cast<int>(tag));
}
std::string text_of_rank(Rank rank) { return rank == kAnySource ? "any rank" : fmt::format("rank {}", rank); }

// Handlers run inside Provider::post_* and Provider::poll, which run under the engine's lock.
SendOperation& send_of(Completion& completion) FAB_ASSERT_CAPABILITY(engine_lock) {
  return static_cast<SendOperation&>(static_cast<Payload&>(completion).operation);
}
ReceiveOperation& receive_of(Completion& completion) FAB_ASSERT_CAPABILITY(engine_lock) {
  return static_cast<ReceiveOperation&>(static_cast<Payload&>(completion).operation);
}

}  // namespace

// Whether it needs polls shows when the message leaves, or is asked for.
void PointOperation::begin(Membership& communicator) {
  communicator_ = &communicator;
  held_ = in_flight_ = active_ = true;
  if (!status_.ok()) status_ = {};
  message_ = {};
  failed_rank_ = kNoRank;
  whole_ = nullptr;
  done_.store(false, std::memory_order_relaxed);
  urgency = Urgency::peers;
  engine().activated(*this);
}

void PointOperation::complete(Status status) {
  if (done()) return;
  status_ = std::move(status);
  moved();
  if (engine().recorder() != nullptr) [[unlikely]]
    record_message();
  if (held_ && (!status_.ok() || communicator_->scope().given_up_for != kNoRank))
    owner_.runtime().losses().ended(*this, communicator_->scope(), failed_rank_);
  done_.store(true, std::memory_order_release);
  engine().ended();
  if (whole_ != nullptr) whole_->part_ended(*this);
}

void PointOperation::moved() noexcept {
  count_settled();
  if (whole_ != nullptr) whole_->part_moved();
}

bool PointOperation::let_go_of() noexcept {
  held_ = false;
  whole_ = nullptr;
  communicator_ = nullptr;
  return !in_flight_;
}

void PointOperation::no_longer_active() {
  if (std::exchange(active_, false)) engine().deactivated(*this);
}

void PointOperation::abandon_for(Rank failed_rank, const Status& reason) {
  if (failed_rank_ == kNoRank) failed_rank_ = failed_rank;
  abandon(reason);
}

void PointOperation::fail_like(const Correspondent& lost) {
  failed_rank_ = lost.failed_rank;
  end(failure(lost.failure));
}

bool PointOperation::has_member(Rank world_rank) const { return held_ && communicator_->has_member(world_rank); }

void PointOperation::settle() {
  in_flight_ = false;
  no_longer_active();
}

// Sends.

Peer* SendOperation::waited(std::uint64_t ns) noexcept {
  owner_.count_of_sends().waited(ns);
  return correspondent_ == nullptr ? nullptr : correspondent_->peer;
}

SendOperation::SendOperation(PointHost& owner, std::uint32_t number) noexcept
    : PointOperation(owner, number),
      payload_(
          *this, [](Completion& self, std::uint64_t, std::uint64_t) noexcept { send_of(self).end({}); },
          [](Completion& self, const Status& its_status) noexcept {
            const Status status = not_taken_back(its_status);
            SendOperation& send = send_of(self);
            Correspondent& correspondent = *send.correspondent_;
            PointHost& all = send.owner_;
            send.failed_rank_ = all.blame(correspondent, status);
            send.end(send.failure(status));
            all.lose(correspondent, status);
          },
          [](Post& self) { return send_of(self).post_payload(); }) {}

void SendOperation::start(Membership& communicator, MessageMemory memory, Destination to, SendMode mode,
                          Correspondent& correspondent) {
  begin(communicator);
  memory_ = std::move(memory);
  to_ = to;
  mode_ = mode;
  correspondent_ = &correspondent;
  given_up_ = false;
  if (engine().recorder() != nullptr) [[unlikely]]
    record_start(owner_.count_of_sends());
}

std::string SendOperation::describe() const {
  return fmt::format("send to rank {} ({} B, tag {})", to_.rank, memory_.bytes(), text_of(to_.tag));
}

const char* SendOperation::describe_state() const noexcept {
  switch (state_) {
    case State::leaving:
      return "it has not left";
    case State::answered:
      return "the receiver has not answered";
    case State::sending:
      return "its bytes are on their way";
    case State::idle:
      break;
  }
  return "complete";
}

void SendOperation::end(const Status& status) {
  complete(status);
  state_ = State::idle;
  payload_.memory.reset();
  if (own_ != nullptr && mode_ == SendMode::buffered)
    owner_.count_buffered(-static_cast<std::int64_t>(memory_.bytes()));
  own_.reset();
  settle();
  if (!held_) owner_.release(*this);
}

void SendOperation::let_go() noexcept {
  if (let_go_of()) owner_.release(*this);
}

void SendOperation::buffer() {
  own_.reset(new std::byte[memory_.bytes()]);
  memory_.pack(own_.get());
  memory_ = MessageMemory(own_.get(), memory_.bytes());
  owner_.count_buffered(static_cast<std::int64_t>(memory_.bytes()));
}

Envelope SendOperation::envelope() const {
  const ContextId id = membership().context_id();
  return {.mode = mode_,
          .source = membership().rank(),
          .tag = to_.tag,
          .context_owner = id.owner,
          .context_number = id.number,
          .send = number(),
          .bytes = memory_.bytes()};
}

void SendOperation::leave(OutgoingEnvelope& out) {
  if (mode_ == SendMode::synchronous || mode_ == SendMode::ready) {
    state_ = State::answered;
  } else {
    state_ = State::leaving;
    next_leaving_ = std::exchange(out.senders, this);
    envelope_ = &out;
  }
  if (mode_ == SendMode::buffered) complete();
}

void SendOperation::await_cts() {
  engine().raise_urgency(*this, Urgency::polls);  // polls see the answer, and then post the bytes
  if (mode_ == SendMode::buffered) buffer();
  state_ = State::answered;
  if (mode_ == SendMode::buffered) complete();
}

SendOperation* SendOperation::left_envelope() {
  envelope_ = nullptr;
  return std::exchange(next_leaving_, nullptr);
}

void SendOperation::stop_leaving() {
  SendOperation** place = &std::exchange(envelope_, nullptr)->senders;
  while (*place != this) place = &(*place)->next_leaving_;
  *place = std::exchange(next_leaving_, nullptr);
}

void SendOperation::was_acked() {
  if (state_ == State::answered) end({});
}

void SendOperation::was_nacked() {
  if (state_ == State::answered)
    end({make_error_code(Errc::mismatch), describe() + ": the send is ready, but no receive was waiting for it"});
}

void SendOperation::was_cleared(std::uint32_t receive) {
  if (state_ != State::answered) return;
  if (given_up_) {
    owner_.answer(*correspondent_, EnvelopeKind::cancelled, number(), receive);
    return end({});
  }
  moved();
  receive_ = receive;
  state_ = State::sending;
  if (!memory_.is_contiguous()) {
    payload_.memory.reset(new std::byte[memory_.bytes()]);
    memory_.pack(payload_.memory.get());
  }
  owner_.post_when_ready(*correspondent_, payload_);
}

bool SendOperation::post_payload() {
  if (!correspondent_->failure.ok()) {
    fail_like(*correspondent_);
    return true;
  }
  std::byte* const memory = payload_.memory != nullptr ? payload_.memory.get() : memory_.contiguous();
  const std::array<iovec, 1> pieces{{{memory, memory_.bytes()}}};
  const Peer& peer = *correspondent_->peer;
  const std::uint64_t tag = owner_.payload_tag(owner_.runtime().job().rank, receive_);
  payload_.count_in(&owner_.count_of_sends().ways());
  switch (peer.provider->post_send(peer.handle, pieces, tag, payload_)) {
    case PostResult::done:
      end({});
      return true;
    case PostResult::pending:
      return true;
    case PostResult::again:
      break;
  }
  engine().retry_later(payload_, peer.refused_sends);
  return false;
}

// What the receiver knows of cannot be taken back: the operation waits for its answer.
void SendOperation::abandon(const Status& reason) {
  if (done()) return;
  if (state_ == State::leaving) {
    stop_leaving();
    return end(reason);
  }
  given_up_ = true;
  complete(reason);
  no_longer_active();
}

void SendOperation::visit_peers(const PeerVisitor& visit) const {
  if (correspondent_->peer != nullptr) visit(*correspondent_->peer);
}

// A message of fab's own belongs to a call of all ranks, which its receiver may have refused.
void SendOperation::stalled() {
  if (!done() && is_own(to_.tag)) owner_.runtime().refusals().ask(correspondent_->world_rank);
}

// Bytes that are with the provider may never leave. It only reads them.
void SendOperation::correspondent_lost() {
  const Status& reason = correspondent_->failure;
  failed_rank_ = correspondent_->failed_rank;
  if (state_ == State::answered) return end(failure(reason));
  if (state_ == State::leaving) {
    stop_leaving();
    return end(failure(reason));
  }
  if (state_ != State::sending || done()) return;
  complete(failure(reason));
  no_longer_active();
}

// Receives.

ReceiveOperation::ReceiveOperation(PointHost& owner, std::uint32_t number) noexcept
    : PointOperation(owner, number),
      payload_(
          *this, [](Completion& self, std::uint64_t, std::uint64_t) noexcept { receive_of(self).received(); },
          [](Completion& self, const Status& status) noexcept { receive_of(self).payload_failed(status); },
          [](Post& self) { return receive_of(self).post_payload(); }) {}

void ReceiveOperation::start(Membership& communicator, MatchQueues& queues, MessageMemory memory, Source from,
                             bool probe, Correspondent* correspondent) {
  begin(communicator);
  queues_ = &queues;
  memory_ = std::move(memory);
  from_ = from;
  probe_ = probe;
  correspondent_ = correspondent;
  if (!end_.ok()) end_ = {};
  discards_ = false;
  if (engine().recorder() != nullptr) [[unlikely]]
    record_start(owner_.count_of_receives());
}

std::string ReceiveOperation::describe() const {
  if (probe_) return fmt::format("probe for a message from {} (tag {})", text_of_rank(from_.rank), text_of(from_.tag));
  return fmt::format("receive from {} (room for {} B, tag {})", text_of_rank(from_.rank), memory_.bytes(),
                     text_of(from_.tag));
}

const char* ReceiveOperation::describe_state() const noexcept {
  switch (state_) {
    case State::waiting:
      return "no message has come";
    case State::matched:
      return "a message was announced";
    case State::receiving:
    case State::discarding:
      return "the bytes of a message were asked for";
    case State::idle:
      break;
  }
  return "complete";
}

Peer* ReceiveOperation::waited(std::uint64_t ns) noexcept {
  owner_.count_of_receives().waited(ns);
  return correspondent_ == nullptr ? nullptr : correspondent_->peer;
}

void ReceiveOperation::end(const Status& status) {
  if (status.ok() && !probe_) {
    owner_.count_of_receives().received(message_.bytes);
    if (correspondent_ != nullptr && correspondent_->peer != nullptr)
      correspondent_->peer->received.add({1, message_.bytes});
  }
  complete(status);
  state_ = State::idle;
  payload_.memory.reset();
  settle();
  if (!held_) owner_.release(*this);
}

void ReceiveOperation::let_go() noexcept {
  if (let_go_of()) owner_.release(*this);
}

void ReceiveOperation::wait_for_message() {
  state_ = State::waiting;
  queues_->post(*this);
}

void ReceiveOperation::found(const Envelope& envelope) {
  message_ = {envelope.source, envelope.tag, envelope.bytes};
  end({});
}

Status ReceiveOperation::truncated(const Envelope& envelope) const {
  if (envelope.bytes <= memory_.bytes()) return {};
  return {make_error_code(Errc::truncated), fmt::format("{}: rank {} sent {} bytes with tag {}", describe(),
                                                        envelope.source, envelope.bytes, text_of(envelope.tag))};
}

void ReceiveOperation::take(Correspondent& correspondent, const Envelope& envelope, const std::byte* bytes) {
  correspondent_ = &correspondent;
  sequence_ = envelope.sequence;
  message_ = {envelope.source, envelope.tag, envelope.bytes};
  const Status status = truncated(envelope);
  const bool waits = envelope.mode == SendMode::synchronous || envelope.mode == SendMode::ready;
  if (envelope.kind == EnvelopeKind::eager) {
    if (status.ok()) memory_.unpack(bytes, envelope.bytes);
    correspondent.owed += credits_for(envelope.bytes);
    if (waits) owner_.answer(correspondent, EnvelopeKind::ack, envelope.send);
    owner_.return_credits(correspondent);
    return end(status);
  }
  if (!status.ok() || envelope.bytes == 0) {
    owner_.answer(correspondent, EnvelopeKind::ack, envelope.send);
    return end(status);
  }
  if (correspondent.peer == nullptr) return copy_from_self(envelope);
  fetch(envelope);
}

void ReceiveOperation::copy_from_self(const Envelope& envelope) {
  SendOperation& send = owner_.send_to_self(envelope.send);
  const bool given_up = send.given_up();
  if (!given_up) copy(send.memory(), memory_);
  send.was_acked();
  end(given_up ? failure({make_error_code(Errc::cancelled), "the send was cancelled"}) : Status());
}

void ReceiveOperation::fetch(const Envelope& envelope) {
  send_ = envelope.send;
  payload_bytes_ = envelope.bytes;
  if (!memory_.is_contiguous()) payload_.memory.reset(new std::byte[payload_bytes_]);
  state_ = State::matched;
  moved();
  engine().raise_urgency(*this, Urgency::polls);
  owner_.post_when_ready(*correspondent_, payload_);
}

// The sender hears that the bytes are wanted when the receive is posted, so they never come early.
bool ReceiveOperation::post_payload() {
  if (!correspondent_->failure.ok()) {
    fail_like(*correspondent_);
    return true;
  }
  const State before = std::exchange(state_, state_ == State::matched ? State::receiving : state_);
  std::byte* const memory = payload_.memory != nullptr ? payload_.memory.get() : memory_.contiguous();
  const std::array<iovec, 1> pieces{{{memory, payload_bytes_}}};
  const Peer& peer = *correspondent_->peer;
  const std::uint64_t tag = owner_.payload_tag(peer.world_rank, number());
  if (peer.provider->post_recv(peer.handle, pieces, tag, 0, payload_) == PostResult::again) {
    state_ = before;
    engine().retry_later(payload_);
    return false;
  }
  if (before == State::matched && state_ == State::receiving)
    owner_.answer(*correspondent_, EnvelopeKind::cts, send_, number());
  return true;
}

void ReceiveOperation::received() {
  if (state_ == State::receiving && payload_.memory != nullptr) memory_.unpack(payload_.memory.get(), payload_bytes_);
  end({});
}

// Bytes that were asked for come: if the receive was taken back they need other memory to go to.
void ReceiveOperation::payload_failed(const Status& status) {
  if (state_ == State::receiving && !end_.ok()) {
    if (!discards_ || status.errc() != Errc::cancelled) return end(end_);
    complete(end_);
    no_longer_active();
    payload_.memory.reset(new std::byte[payload_bytes_]);
    state_ = State::discarding;
    post_payload();
    return;
  }
  Correspondent& correspondent = *correspondent_;
  PointHost& all = owner_;
  const Status reason = not_taken_back(status);
  failed_rank_ = all.blame(correspondent, reason);
  end(failure(reason));
  all.lose(correspondent, reason);
}

void ReceiveOperation::abandon(const Status& reason) {
  if (done()) return;
  switch (state_) {
    case State::waiting:
      queues_->forget(*this);
      return end(reason);
    case State::matched:
      owner_.forget(*correspondent_, payload_);
      owner_.answer(*correspondent_, EnvelopeKind::ack, send_);
      return end(reason);
    case State::receiving:
      end_ = reason;
      discards_ = true;
      return correspondent_->peer->provider->cancel(payload_);
    case State::idle:
    case State::discarding:
      return;
  }
}

void ReceiveOperation::cancel() {
  if (state_ == State::waiting) abandon({make_error_code(Errc::cancelled), describe() + ": cancelled"});
}

void ReceiveOperation::sender_gave_up() {
  if (state_ != State::receiving && state_ != State::discarding) return;
  if (end_.ok()) end_ = failure({make_error_code(Errc::cancelled), "the sender has cancelled the message"});
  discards_ = false;
  correspondent_->peer->provider->cancel(payload_);
}

// A receive from any rank waits for all ranks that it knows.
void ReceiveOperation::visit_peers(const PeerVisitor& visit) const {
  if (correspondent_ != nullptr) {
    if (correspondent_->peer != nullptr) visit(*correspondent_->peer);
  } else if (held_) {
    owner_.visit_members(*communicator_, visit);
  }
}

void ReceiveOperation::correspondent_lost(const Correspondent& correspondent) {
  const Status& reason = correspondent.failure;
  if (state_ == State::receiving && correspondent_ == &correspondent) {
    failed_rank_ = correspondent.failed_rank;
    if (end_.ok()) end_ = failure(reason);
    discards_ = false;
    return correspondent.peer->provider->cancel(payload_);
  }
  if (state_ != State::waiting) return;
  const bool concerned =
      from_.rank != kAnySource ? correspondent_ == &correspondent : has_member(correspondent.world_rank);
  if (!concerned) return;
  failed_rank_ = correspondent.failed_rank;
  queues_->forget(*this);
  end(failure(reason));
}

}  // namespace fab::core
