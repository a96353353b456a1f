// A receive or probe from its start to its end: it waits for a message, and takes or fetches its bytes.
#include <fmt/core.h>

#include <array>
#include <utility>

#include "core/point/operations.h"
#include "core/point/own_tag.h"

namespace fab::core {

namespace {

std::string text_of_rank(Rank rank) { return rank == kAnySource ? "any rank" : fmt::format("rank {}", rank); }

// Handlers run inside Provider::post_* and Provider::poll, which run under the engine's lock.
ReceiveOperation& receive_of(Completion& completion) FAB_ASSERT_CAPABILITY(engine_lock) {
  return static_cast<ReceiveOperation&>(static_cast<Payload&>(completion).operation);
}

}  // namespace

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
  offered_ = false;
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
  if (envelope.kind == EnvelopeKind::withdrawn)
    return end(failure({make_error_code(Errc::cancelled), "the sender has cancelled the message"}));
  if (envelope.kind == EnvelopeKind::offer) return status.ok() ? fetch(envelope) : discard_offer(status);
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
  offered_ = envelope.kind == EnvelopeKind::offer;
  payload_bytes_ = envelope.bytes;
  if (!memory_.is_contiguous()) payload_.memory.reset(new std::byte[payload_bytes_]);
  state_ = State::matched;
  moved();
  engine().raise_urgency(*this, Urgency::polls);
  owner_.post_when_ready(*correspondent_, payload_);
}

// The provider cuts them.
void ReceiveOperation::discard_offer(const Status& reason) {
  offered_ = true;
  payload_bytes_ = 0;
  complete(reason);
  no_longer_active();
  state_ = State::discarding;
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
  const std::uint64_t tag =
      offered_ ? owner_.offer_tag(peer.world_rank, sequence_) : owner_.payload_tag(peer.world_rank, number());
  if (peer.provider->post_recv(peer.handle, pieces, tag, 0, payload_) == PostResult::again) {
    state_ = before;
    engine().retry_later(payload_);
    return false;
  }
  if (!offered_ && before == State::matched && state_ == State::receiving)
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
      if (offered_) return discard_offer(reason);
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
