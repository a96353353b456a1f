// Handles arriving envelopes, in the order in which their senders numbered them.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/point/point_to_point.h"

namespace fab::core {

namespace {

/// A receive of any rank's envelopes belongs to no peer, so its failure tells little; it is not repeated for ever.
constexpr int kMostFailures = 16;
/// Shorter messages, with their envelopes, are not worth the look for their receives.
constexpr std::size_t kLeastPlaced = 512;

// Handlers run inside Provider::post_* and Provider::poll, which run under the engine's lock.
IncomingEnvelope& incoming_of(Completion& completion) FAB_ASSERT_CAPABILITY(engine_lock) {
  return static_cast<IncomingEnvelope&>(completion);
}

Envelope head_of(std::span<const std::byte> wire) noexcept {
  Envelope envelope;
  std::memcpy(&envelope, wire.data(), sizeof(envelope));
  return envelope;
}

/// Of `here` bytes, those of the envelope and of what belongs to it: an eager message, or the text of a refusal.
std::size_t bytes_of(const Envelope& envelope, std::size_t here) noexcept {
  if (envelope.kind == EnvelopeKind::refusal) return here;
  return sizeof(envelope) + (envelope.kind == EnvelopeKind::eager ? envelope.bytes : 0);
}

}  // namespace

Post::Handlers PointToPoint::incoming_handlers() noexcept {
  return {
      .done =
          [](Completion& self, std::uint64_t message_bytes, std::uint64_t) noexcept {
            incoming_of(self).owner.envelope_arrived(incoming_of(self), message_bytes);
          },
      .fail = [](Completion& self,
                 const Status& status) noexcept { incoming_of(self).owner.listener_failed(incoming_of(self), status); },
      .attempt = [](Post& self) { return incoming_of(self).owner.post(incoming_of(self)); },
      .take =
          [](Completion& self, const Delivery& delivery) noexcept {
            return incoming_of(self).owner.place(incoming_of(self), delivery);
          }};
}

// The receive that is found here takes the message when the provider is done with it: nothing happens in between.
bool PointToPoint::place(IncomingEnvelope& incoming, const Delivery& delivery) {
  const std::span<const std::byte> wire = delivery.bytes;
  if (incoming.correspondent == nullptr || wire.size() != delivery.message_bytes || wire.size() < kLeastPlaced)
    return false;
  const Envelope envelope = head_of(wire);
  const Correspondent& from = *incoming.correspondent;
  if (envelope.kind != EnvelopeKind::eager || envelope.sender != from.world_rank ||
      envelope.sequence != from.next_expected || sizeof(envelope) + envelope.bytes != wire.size() ||
      !makes_sense(envelope))
    return false;
  const PostedReceive* const receive = queues_of({envelope.context_owner, envelope.context_number}).look_for(envelope);
  std::byte* const place = receive == nullptr ? nullptr : receive->place_for(envelope);
  if (place == nullptr) return false;
  std::memcpy(incoming.memory.get(), &envelope, sizeof(envelope));
  std::memcpy(place, wire.data() + sizeof(envelope), envelope.bytes);
  incoming.placed = place;
  return true;
}

void PointToPoint::listen_to_node() {
  if (listens_to_node_) return;
  listens_to_node_ = true;
  for (const Rank rank : runtime_.job().node_ranks)
    if (runtime_.peers().is_near(rank)) static_cast<void>(correspondent(rank));
}

// A provider may complete a receive inside its post: such envelopes are handled here, one after the other.
bool PointToPoint::post(IncomingEnvelope& incoming) {
  const std::uint64_t tag = runtime_.tags().point_to_point();
  const PeerHandle from = incoming.correspondent == nullptr ? kAnyPeer : incoming.correspondent->peer->handle;
  const std::array<iovec, 1> pieces{{{incoming.memory.get(), kEnvelopeBytes}}};
  for (;;) {
    incoming.arrived = false;
    incoming.posting = true;
    const PostResult result = incoming.provider.post_recv(from, pieces, tag, 0, incoming);
    incoming.posting = false;
    if (result == PostResult::again) {
      engine().retry_later(incoming);
      return false;
    }
    if (!incoming.arrived) return true;
    handle(incoming, incoming.bytes);
  }
}

void PointToPoint::envelope_arrived(IncomingEnvelope& incoming, std::size_t bytes) {
  incoming.failures = 0;
  if (incoming.posting) {
    incoming.arrived = true;
    incoming.bytes = bytes;
    return;
  }
  handle(incoming, bytes);
  post(incoming);
}

void PointToPoint::listener_failed(IncomingEnvelope& incoming, const Status& status) {
  if (incoming.correspondent != nullptr) return lose(*incoming.correspondent, status);
  // A connection that ends takes with it the receive of what was coming there.
  if (status.errc() != Errc::cancelled)
    runtime_.log().write(LogLevel::warn, "a receive of point-to-point messages failed: {}", status.message);
  if (++incoming.failures < kMostFailures) engine().retry_later(incoming);
}

void PointToPoint::handle(IncomingEnvelope& incoming, std::size_t bytes) {
  if (incoming.placed != nullptr)
    return handle(head_of({incoming.memory.get(), sizeof(Envelope)}),
                  {std::exchange(incoming.placed, nullptr), bytes - sizeof(Envelope)});
  const std::span<const std::byte> wire{incoming.memory.get(), bytes};
  const bool is_brief = bytes >= sizeof(BriefEnvelope) && static_cast<EnvelopeKind>(wire[0]) == EnvelopeKind::brief;
  if (is_brief && incoming.correspondent != nullptr) return handle_brief(*incoming.correspondent, wire);
  handle(wire);
}

void PointToPoint::handle_brief(Correspondent& from, std::span<const std::byte> wire) {
  BriefEnvelope head;
  std::memcpy(&head, wire.data(), sizeof(head));
  const Envelope envelope = in_full(head, from.world_rank);
  if (wire.size() != sizeof(head) + envelope.bytes || !makes_sense(envelope)) return drop(wire);
  handle(envelope, wire.subspan(sizeof(head)));
}

void PointToPoint::drop(std::span<const std::byte> wire) {
  if (++misfits_ == 1)
    runtime_.log().write(LogLevel::warn,
                         "an envelope of {} bytes that makes no sense was dropped; others will only be counted",
                         wire.size());
}

// A length, a rank or a number that came over a wire is looked at before anything is done by it.
void PointToPoint::handle(std::span<const std::byte> wire) {
  if (!makes_sense(wire)) return drop(wire);
  while (!wire.empty()) {
    const Envelope envelope = head_of(wire);
    const std::size_t bytes = bytes_of(envelope, wire.size());
    handle(envelope, wire.subspan(sizeof(envelope), bytes - sizeof(envelope)));
    wire = wire.subspan(bytes);
  }
}

bool PointToPoint::makes_sense(std::span<const std::byte> wire) const noexcept {
  do {
    if (wire.size() < sizeof(Envelope)) return false;
    const Envelope envelope = head_of(wire);
    if (!makes_sense(envelope) || bytes_of(envelope, wire.size()) > wire.size()) return false;
    wire = wire.subspan(bytes_of(envelope, wire.size()));
  } while (!wire.empty());
  return true;
}

bool PointToPoint::makes_sense(const Envelope& envelope) const noexcept {
  const auto is_rank = [size = runtime_.job().size](Rank rank) { return rank >= 0 && rank < size; };
  return envelope.kind <= EnvelopeKind::refusal && envelope.mode <= SendMode::ready && envelope.credits <= kWindow &&
         is_rank(envelope.sender) && is_rank(envelope.source) && is_rank(envelope.context_owner) &&
         (envelope.kind != EnvelopeKind::eager || envelope.bytes <= kEagerBytes);
}

void PointToPoint::handle(const Envelope& envelope, std::span<const std::byte> behind) {
  Correspondent& from = correspondent(envelope.sender);
  from.credits = std::min(from.credits + envelope.credits, kWindow);
  if (envelope.kind == EnvelopeKind::refusal)
    return runtime_.refusals().told_by(envelope.sender,
                                       {{envelope.context_owner, envelope.context_number}, envelope.bytes},
                                       {reinterpret_cast<const char*>(behind.data()), behind.size()});
  handle(from, envelope, behind.data());
}

void PointToPoint::handle(Correspondent& from, const Envelope& envelope, const std::byte* bytes) {
  SendOperation* send = envelope.send < sends_.size() ? &sends_[envelope.send] : nullptr;
  if (send != nullptr && send->correspondent() != &from) send = nullptr;  // a message to another rank
  switch (envelope.kind) {
    case EnvelopeKind::eager:
    case EnvelopeKind::rts:
    case EnvelopeKind::offer:
      return message_came(from, envelope, bytes);
    case EnvelopeKind::cts:
      if (send != nullptr) send->was_cleared(envelope.receive);
      return;
    case EnvelopeKind::ack:
      if (send != nullptr) send->was_acked();
      return;
    case EnvelopeKind::nack:
      if (send != nullptr) send->was_nacked();
      return;
    case EnvelopeKind::cancelled:
      if (envelope.receive < receives_.size() && receives_[envelope.receive].correspondent() == &from)
        receives_[envelope.receive].sender_gave_up();
      return;
    case EnvelopeKind::withdrawn:
      return offer_withdrawn(from, envelope.send);
    case EnvelopeKind::ask_refusals:
      return runtime_.refusals().asked_by(envelope.sender);
    case EnvelopeKind::credit:
    case EnvelopeKind::refusal:
    case EnvelopeKind::brief:
      return;
  }
}

void PointToPoint::offer_withdrawn(Correspondent& from, std::uint32_t sequence) {
  if (static_cast<std::int32_t>(sequence - from.next_expected) >= 0) return from.withdrawn.push_back(sequence);
  for (ReceiveOperation& receive : receives_)
    if (receive.takes_offer(from, sequence)) return receive.sender_gave_up();
  for (auto& [key, queues] : match_queues_)
    if (queues.withdraw(from, sequence)) return;
}

void PointToPoint::message_came(Correspondent& from, const Envelope& envelope, const std::byte* bytes) {
  if (envelope.sequence != from.next_expected) {
    from.overtakers.emplace(envelope.sequence, copy_of(from, envelope, bytes));
    return;
  }
  ++from.next_expected;
  deliver(from, envelope, bytes);
  for (auto next = from.overtakers.find(from.next_expected); next != from.overtakers.end();
       next = from.overtakers.find(from.next_expected)) {
    const Unexpected message = std::move(next->second);
    from.overtakers.erase(next);
    ++from.next_expected;
    deliver(from, message.envelope, message.bytes.get());
  }
}

void PointToPoint::deliver(Correspondent& from, const Envelope& envelope, const std::byte* bytes) {
  if (!from.withdrawn.empty() && std::erase(from.withdrawn, envelope.sequence) > 0) {
    Envelope withdrawn = envelope;
    withdrawn.kind = EnvelopeKind::withdrawn;
    return deliver(from, withdrawn, bytes);
  }
  MatchQueues& queues = queues_of({envelope.context_owner, envelope.context_number});
  if (PostedReceive* receive = queues.match(envelope)) return receive->take(from, envelope, bytes);
  if (envelope.mode == SendMode::ready) {
    if (envelope.kind == EnvelopeKind::eager) from.owed += credits_for(envelope.bytes);
    return answer(from, EnvelopeKind::nack, envelope.send);
  }
  queues.keep(copy_of(from, envelope, bytes));
}

// Its sender has its credits back, and waits for no answer.
void PointToPoint::drop(const Unexpected& message) {
  Correspondent& from = *message.correspondent;
  const bool eager = message.envelope.kind == EnvelopeKind::eager;
  if (eager) from.owed += credits_for(message.envelope.bytes);
  if (!eager || message.envelope.mode == SendMode::synchronous)
    answer(from, EnvelopeKind::nack, message.envelope.send);
  else
    return_credits(from);
}

Unexpected PointToPoint::copy_of(Correspondent& from, const Envelope& envelope, const std::byte* bytes) {
  Unexpected message{&from, envelope, nullptr};
  if (envelope.kind == EnvelopeKind::eager && envelope.bytes > 0) {
    message.bytes.reset(new std::byte[envelope.bytes]);
    std::memcpy(message.bytes.get(), bytes, envelope.bytes);
  }
  return message;
}

}  // namespace fab::core
