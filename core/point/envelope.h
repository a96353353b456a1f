// The control messages between two ranks for their point-to-point messages.
#pragma once

#include <cstdint>
#include <type_traits>

#include "fab/message.h"

namespace fab::core {

/// `eager`, `rts` and `offer` carry a message to be matched, the other kinds answer one.
enum class EnvelopeKind : std::uint8_t {
  eager,         ///< a message, whose bytes follow
  rts,           ///< request to send: a message whose bytes the receiver has to ask for
  offer,         ///< a message whose bytes wait at the sender for a receive under the message's sequence number
  cts,           ///< clear to send: a receive waits for the bytes of a message that came as `rts`
  ack,           ///< a synchronous message, a ready one or an `rts` has been matched, and nothing more is wanted
  nack,          ///< a ready message met no receive, or the communicator has ended there
  cancelled,     ///< the sender has given up a message that it was cleared to send
  withdrawn,     ///< the sender has given up the `offer` with the sequence number `send`
  credit,        ///< nothing but credits
  ask_refusals,  ///< no message: the sender waits, and wants to know which calls the receiver refuses
  refusal,       ///< no message either: the sender has refused the call with the number `bytes`; the reason follows
  brief          ///< `eager` with a BriefEnvelope, at the head of its message
};

/// The head of a message on the wire; ranks of a job have the same byte order.
struct Envelope {
  EnvelopeKind kind = EnvelopeKind::credit;
  SendMode mode = SendMode::standard;
  std::uint16_t credits = 0;   ///< that the other end may have back
  Rank sender = 0;             ///< of the envelope, its rank in the job
  std::uint32_t sequence = 0;  ///< of messages between these two ranks
  Rank source = 0;             ///< the sender's rank in the communicator
  Tag tag{};                   ///< the user's
  Rank context_owner = 0;      ///< the communicator
  std::uint32_t context_number = 0;
  std::uint32_t send = 0;     ///< the sender's number of the operation
  std::uint32_t receive = 0;  ///< the receiver's; bytes that were asked for come under this number
  std::uint32_t unused = 0;
  std::uint64_t bytes = 0;  ///< of the message
};
static_assert(std::is_trivially_copyable_v<Envelope> && sizeof(Envelope) == 48);

/// The head of a short message within a node, whose receiver knows the sender by the way that the message came. With 16
/// bytes it crosses as one cache line, as a cell of providers/local/ring.h has 40 in its first one.
struct BriefEnvelope {
  EnvelopeKind kind = EnvelopeKind::brief;
  std::uint8_t bytes = 0;  ///< of the message
  std::uint16_t credits = 0;
  std::uint32_t sequence = 0;
  Rank source = 0;
  Tag tag{};
  Rank context_owner = 0;
  std::uint32_t context_number = 0;
};
static_assert(std::is_trivially_copyable_v<BriefEnvelope> && sizeof(BriefEnvelope) == 24);
/// The longest message with one: both lie inside a cell.
constexpr std::uint64_t kMostBriefBytes = 80;

/// Of a message that no answer tells the sender about.
[[nodiscard]] constexpr bool may_be_brief(const Envelope& envelope) noexcept {
  return envelope.kind == EnvelopeKind::eager && envelope.bytes <= kMostBriefBytes &&
         (envelope.mode == SendMode::standard || envelope.mode == SendMode::buffered);
}
/// Precondition: may_be_brief().
[[nodiscard]] constexpr BriefEnvelope brief(const Envelope& envelope) noexcept {
  return {.bytes = static_cast<std::uint8_t>(envelope.bytes),
          .credits = envelope.credits,
          .sequence = envelope.sequence,
          .source = envelope.source,
          .tag = envelope.tag,
          .context_owner = envelope.context_owner,
          .context_number = envelope.context_number};
}
[[nodiscard]] constexpr Envelope in_full(const BriefEnvelope& envelope, Rank sender) noexcept {
  return {.kind = EnvelopeKind::eager,
          .credits = envelope.credits,
          .sender = sender,
          .sequence = envelope.sequence,
          .source = envelope.source,
          .tag = envelope.tag,
          .context_owner = envelope.context_owner,
          .context_number = envelope.context_number,
          .bytes = envelope.bytes};
}

/// The longest message that travels with its envelope: through a network, where a question and its answer take longer
/// than two copies, and within a node, where it is copied once less if it lies in a row
/// (docs/explanation/point-to-point.md).
constexpr std::uint64_t kEagerBytes = 32 * 1024;
constexpr std::uint64_t kNearEagerBytes = 8 * 1024;
constexpr std::uint64_t kNearEagerBytesInARow = 16 * 1024;
/// An envelope with the bytes that follow it.
constexpr std::size_t kEnvelopeBytes = sizeof(Envelope) + kEagerBytes;
/// What a rank sends to another beyond what the other's receives have taken may have to be kept: 256 KiB at most, which
/// are counted in credits of so many bytes.
constexpr std::uint64_t kCreditBytes = 256;
constexpr int kWindow = 256 * 1024 / kCreditBytes;
static_assert(kWindow <= 0xffff);

/// The credits that a message of so many bytes takes, if it travels with its envelope.
constexpr int credits_for(std::uint64_t bytes) noexcept {
  return static_cast<int>((bytes + sizeof(Envelope) + kCreditBytes - 1) / kCreditBytes);
}

}  // namespace fab::core
