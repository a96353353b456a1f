// Sends messages and answers of point-to-point communication.
#include <array>
#include <cstring>
#include <utility>

#include "core/point/point_to_point.h"

namespace fab::core {

namespace {

// Handlers run inside Provider::post_* and Provider::poll, which run under the engine's lock.
OutgoingEnvelope& outgoing_of(Completion& completion) FAB_ASSERT_CAPABILITY(engine_lock) {
  return static_cast<OutgoingEnvelope&>(completion);
}

/// Of one envelope, which may end in `act`.
template <class Act>
void for_each_sender(SendOperation* senders, Act&& act) FAB_REQUIRES(engine_lock) {
  while (senders != nullptr) {
    SendOperation& send = *senders;
    senders = send.left_envelope();
    act(send);
  }
}

}  // namespace

Post::Handlers PointToPoint::outgoing_handlers() noexcept {
  return {
      .done = [](Completion& self, std::uint64_t,
                 std::uint64_t) noexcept { outgoing_of(self).owner.has_left(outgoing_of(self)); },
      .fail = [](Completion& self,
                 const Status& status) noexcept { outgoing_of(self).owner.could_not_leave(outgoing_of(self), status); },
      .attempt = [](Post& self) { return outgoing_of(self).owner.post(outgoing_of(self)); }};
}

bool PointToPoint::is_copied_once(const SendOperation& send, const Correspondent& to) {
  if (to.is_far || to.peer == nullptr || to.peer->provider == nullptr || !send.lends_memory()) return false;
  return sizeof(Envelope) + send.memory().bytes() <= to.peer->provider->capabilities().inject_bytes;
}

// Shorter ones would be copied to a receiver that keeps many already.
bool PointToPoint::may_be_offered(const SendOperation& send, const Correspondent& to) {
  if (to.is_far || to.peer == nullptr || to.peer->provider == nullptr || !send.needs_no_answer()) return false;
  const Capabilities& provider = to.peer->provider->capabilities();
  return provider.waits_at_sender && send.memory().bytes() > provider.inject_bytes;
}

// A message that may not travel with its envelope, as it is long or the receiver keeps many already, sends an RTS. So
// beyond the window a receiver has to keep only the RTS of messages whose senders still hold them.
void PointToPoint::send_message(SendOperation& send, Correspondent& to) {
  Envelope envelope = send.envelope();
  const bool once = envelope.bytes > kMostBriefBytes && is_copied_once(send, to);
  const std::uint64_t most_eager = to.is_far ? kEagerBytes : once ? kNearEagerBytesInARow : kNearEagerBytes;
  const bool eager = envelope.bytes <= most_eager && to.credits >= credits_for(envelope.bytes);
  const bool offered = !eager && may_be_offered(send, to);
  envelope.kind = eager ? EnvelopeKind::eager : offered ? EnvelopeKind::offer : EnvelopeKind::rts;
  envelope.sequence = to.next_sent++;
  if (!to.is_far && to.peer != nullptr && may_be_brief(envelope)) return send_brief(send, to, envelope);
  if (eager && bundles_.wants(to, sizeof(envelope) + envelope.bytes)) return send_in_bundle(send, to, envelope);
  OutgoingEnvelope& out = outgoing(to, eager && !once);
  send_counts_.sent(envelope.bytes, eager);
  if (engine().recorder() != nullptr) [[unlikely]]
    send.record_send(envelope.sequence, eager);
  if (eager) {
    to.credits -= credits_for(envelope.bytes);
    out.count_in(&send_counts_.ways());
    if (once)
      out.behind = {send.memory().contiguous(), envelope.bytes};
    else
      send.memory().pack(out.memory.get() + sizeof(Envelope));
    send.leave(out);
  } else if (!offered) {
    send.await_cts();
  }
  send_out(out, envelope, eager && !once ? envelope.bytes : 0);
  if (offered) send.offer(envelope.sequence);
}

void PointToPoint::send_brief(SendOperation& send, Correspondent& to, Envelope envelope) {
  OutgoingEnvelope& out = outgoing(to, true);
  send_counts_.sent(envelope.bytes, true);
  if (engine().recorder() != nullptr) [[unlikely]]
    send.record_send(envelope.sequence, true);
  to.credits -= credits_for(envelope.bytes);
  out.count_in(&send_counts_.ways());
  const BriefEnvelope head = brief(addressed(envelope, to));
  std::memcpy(out.memory.get(), &head, sizeof(head));
  send.memory().pack(out.memory.get() + sizeof(head));
  send.leave(out);
  leave(out, sizeof(head) + envelope.bytes);
}

void PointToPoint::send_in_bundle(SendOperation& send, Correspondent& to, Envelope envelope) {
  const std::size_t bytes = sizeof(envelope) + envelope.bytes;
  std::byte* place = bundles_.join(to, bytes);
  if (place == nullptr) {
    OutgoingEnvelope& bundle = outgoing(to, true);
    bundle.bytes = 0;
    bundle.active = true;
    bundle.count_in(&send_counts_.ways());
    engine().activated();
    bundles_.open(to, bundle);
    place = bundles_.join(to, bytes);
  }
  send_counts_.sent(envelope.bytes, true);
  if (engine().recorder() != nullptr) [[unlikely]]
    send.record_send(envelope.sequence, true);
  to.credits -= credits_for(envelope.bytes);
  const Envelope head = addressed(envelope, to);
  std::memcpy(place, &head, sizeof(head));
  send.memory().pack(place + sizeof(head));
  send.leave(*to.bundle);
}

Envelope PointToPoint::addressed(Envelope envelope, Correspondent& to) const {
  envelope.sender = runtime_.job().rank;
  envelope.credits = static_cast<std::uint16_t>(std::exchange(to.owed, 0));
  return envelope;
}

void PointToPoint::answer(Correspondent& to, EnvelopeKind kind, std::uint32_t send, std::uint32_t receive) {
  send_out(outgoing(to, false), {.kind = kind, .send = send, .receive = receive}, 0);
}

void PointToPoint::ask_refusals(Rank world_rank) { send_note(world_rank, {.kind = EnvelopeKind::ask_refusals}, {}); }

void PointToPoint::tell_refusal(Rank world_rank, const CallPlace& place, std::string_view reason) {
  send_note(world_rank,
            {.kind = EnvelopeKind::refusal,
             .context_owner = place.communicator.owner,
             .context_number = place.communicator.number,
             .bytes = place.number},
            reason);
}

void PointToPoint::send_note(Rank world_rank, const Envelope& envelope, std::string_view text) {
  Correspondent& to = correspondent(world_rank);
  if (!to.failure.ok()) return;
  OutgoingEnvelope& out = outgoing(to, !text.empty());
  const std::string_view note = text.substr(0, kEnvelopeBytes - sizeof(Envelope));
  if (!note.empty()) std::memcpy(out.memory.get() + sizeof(Envelope), note.data(), note.size());
  send_out(out, envelope, note.size());
}

void PointToPoint::return_credits(Correspondent& to) {
  if (to.owed >= kWindow / 2) answer(to, EnvelopeKind::credit, 0);
}

OutgoingEnvelope& PointToPoint::outgoing(Correspondent& to, bool with_bytes) {
  OutgoingEnvelope& out =
      (with_bytes ? long_envelopes_ : short_envelopes_).take(*this, outgoing_handlers(), with_bytes);
  out.correspondent = &to;
  out.senders = nullptr;
  out.behind = {};
  out.count_in(nullptr);  // most are fab's own
  return out;
}

// An envelope on its way is driven like a run: no other operation may know that there is something to do.
void PointToPoint::send_out(OutgoingEnvelope& out, Envelope envelope, std::size_t payload_bytes) {
  Correspondent& to = *out.correspondent;
  bundles_.flush(to);  // what it answers, or follows, may be there
  envelope = addressed(envelope, to);
  std::memcpy(out.memory.get(), &envelope, sizeof(envelope));
  leave(out, sizeof(envelope) + payload_bytes);
}

void PointToPoint::leave(OutgoingEnvelope& out, std::size_t bytes) {
  out.bytes = bytes;
  out.active = true;
  engine().activated();
  post_when_ready(*out.correspondent, out);
}

bool PointToPoint::post(OutgoingEnvelope& out) {
  const Correspondent& to = *out.correspondent;
  if (!to.failure.ok()) {
    could_not_leave(out, to.failure);
    return true;
  }
  if (to.peer == nullptr) {
    handle({out.memory.get(), out.bytes});
    has_left(out);
    return true;
  }
  const std::array<iovec, 2> pieces{{{out.memory.get(), out.bytes}, {out.behind.data(), out.behind.size()}}};
  const std::uint64_t tag = runtime_.tags().point_to_point();
  const std::size_t count = out.behind.empty() ? 1 : 2;
  switch (to.peer->provider->post_send(to.peer->handle, std::span(pieces).first(count), tag, out)) {
    case PostResult::done:
      has_left(out);
      return true;
    case PostResult::pending:
      return true;
    case PostResult::again:
      break;
  }
  engine().retry_later(out, to.peer->refused_sends);
  return false;
}

void PointToPoint::has_left(OutgoingEnvelope& out) {
  SendOperation* const senders = std::exchange(out.senders, nullptr);
  recycle(out);
  for_each_sender(senders, [](SendOperation& send) FAB_REQUIRES(engine_lock) { send.has_left(); });
}

void PointToPoint::could_not_leave(OutgoingEnvelope& out, const Status& status) {
  Correspondent& to = *out.correspondent;
  const Status reason = not_taken_back(status);
  for_each_sender(std::exchange(out.senders, nullptr),
                  [&reason](SendOperation& send) FAB_REQUIRES(engine_lock) { send.could_not_leave(reason); });
  recycle(out);
  lose(to, reason);
}

void PointToPoint::give_up(OutgoingEnvelope& out) {
  if (std::exchange(out.active, false)) engine().deactivated();
}

void PointToPoint::recycle(OutgoingEnvelope& out) {
  (out.is_long ? long_envelopes_ : short_envelopes_).give_back(out);
  give_up(out);
}

}  // namespace fab::core
