// A send from its start to its end: it leaves with its envelope, or waits for the receiver's answer.
#include <fmt/core.h>

#include <array>
#include <utility>

#include "core/point/operations.h"
#include "core/point/own_tag.h"

namespace fab::core {

namespace {

// Handlers run inside Provider::post_* and Provider::poll, which run under the engine's lock.
SendOperation& send_of(Completion& completion) FAB_ASSERT_CAPABILITY(engine_lock) {
  return static_cast<SendOperation&>(static_cast<Payload&>(completion).operation);
}

}  // namespace

Peer* SendOperation::waited(std::uint64_t ns) noexcept {
  owner_.count_of_sends().waited(ns);
  return correspondent_ == nullptr ? nullptr : correspondent_->peer;
}

SendOperation::SendOperation(PointHost& owner, std::uint32_t number) noexcept
    : PointOperation(owner, number),
      payload_(
          *this, [](Completion& self, std::uint64_t, std::uint64_t) noexcept { send_of(self).end({}); },
          [](Completion& self, const Status& its_status) noexcept {
            SendOperation& send = send_of(self);
            if (send.given_up_ && its_status.errc() == Errc::cancelled) return send.was_taken_back();
            const Status status = not_taken_back(its_status);
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
  offered_ = false;
  refused_ = false;
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

void SendOperation::offer(std::uint32_t sequence) {
  engine().raise_urgency(*this, Urgency::sends);
  if (mode_ == SendMode::buffered) buffer();
  offered_ = true;
  sequence_ = sequence;
  if (mode_ == SendMode::buffered) complete();
  send_bytes(owner_.offer_tag(owner_.runtime().job().rank, sequence));
}

SendOperation* SendOperation::left_envelope() {
  envelope_ = nullptr;
  return std::exchange(next_leaving_, nullptr);
}

void SendOperation::stop_leaving() {
  if (!envelope_->behind.empty()) envelope_->keep_bytes();
  SendOperation** place = &std::exchange(envelope_, nullptr)->senders;
  while (*place != this) place = &(*place)->next_leaving_;
  *place = std::exchange(next_leaving_, nullptr);
}

void SendOperation::was_acked() {
  if (state_ == State::answered) end({});
}

void SendOperation::was_nacked() {
  const char* const fault = mode_ == SendMode::ready ? "the send is ready, but no receive was waiting for it"
                                                     : "the receiver has ended the communicator";
  const Status status{make_error_code(Errc::mismatch), fmt::format("{}: {}", describe(), fault)};
  if (state_ == State::answered) return end(status);
  if (state_ != State::sending || !offered_ || given_up_) return;
  refused_ = true;
  abandon(status);
}

void SendOperation::was_cleared(std::uint32_t receive) {
  if (state_ != State::answered) return;
  if (given_up_) {
    owner_.answer(*correspondent_, EnvelopeKind::cancelled, number(), receive);
    return end({});
  }
  moved();
  receive_ = receive;
  send_bytes(owner_.payload_tag(owner_.runtime().job().rank, receive));
}

void SendOperation::send_bytes(std::uint64_t tag) {
  payload_tag_ = tag;
  posted_ = false;
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
  payload_.count_in(&owner_.count_of_sends().ways());
  switch (peer.provider->post_send(peer.handle, pieces, payload_tag_, payload_)) {
    case PostResult::done:
      end({});
      return true;
    case PostResult::pending:
      posted_ = true;
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
  if (state_ == State::sending) take_bytes_back();
}

void SendOperation::take_bytes_back() {
  if (!posted_) {
    owner_.forget(*correspondent_, payload_);
    was_taken_back();
  } else {
    static_cast<void>(correspondent_->peer->provider->take_back(payload_));
  }
}

void SendOperation::was_taken_back() {
  if (offered_ && !refused_)
    owner_.answer(*correspondent_, EnvelopeKind::withdrawn, sequence_);
  else if (!offered_)
    owner_.answer(*correspondent_, EnvelopeKind::cancelled, number(), receive_);
  end({});
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

}  // namespace fab::core
