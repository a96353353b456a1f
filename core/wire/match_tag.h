// The 64-bit tag by which a message finds its receive.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/base/hash.h"
#include "core/provider.h"
#include "fab/topology.h"

namespace fab::core {

/// Names a communicator job-wide without any negotiation: the process that created the id, and its count of ids.
struct ContextId {
  Rank owner = 0;
  std::uint32_t number = 0;

  bool operator==(const ContextId&) const = default;
};

/// How the bits of a tag are used; a function of the provider and the size of the job, so equal on all ranks.
///
///     high                                                                                                      low
///     | framed 1 | later 1 | unused | persistent 1 | owner r | number n | sequence q | source r (no directed receive)
///     | part p | slot 8 |
///
/// r is just wide enough for the job's ranks; number, sequence and part share what is left. The first two are the open
/// bits of the provider (Capabilities::closed_tag_bits). `framed` says that the
/// message starts with a frame (core/wire/frame.h). It is ignored in matching and compared on arrival, so that ranks
/// that disagree about the sizes along an edge notice. `later` marks the second and later parts of a long message
/// (core/wire/message_parts.h). They only ever meet receives of their lengths: those in the middle have all the same
/// length and their number for `part`, the last one a hash of the message's length. `persistent` marks a persistent
/// exchange: its sequence number was given when it was made and serves all its starts, whose messages providers keep in
/// order. A sequence number that wraps is harmless as long as fewer than half of all numbers are in flight, or last, on
/// one communicator; more are refused (max_in_flight).
class TagFormat {
 public:
  static constexpr unsigned kSlotBits = 8;

  /// Throws Error(no_resources) when the provider's tag is too narrow for the job.
  TagFormat(const Capabilities& capabilities, int job_size);

  [[nodiscard]] std::uint64_t slots() const noexcept { return 1ull << kSlotBits; }
  [[nodiscard]] std::uint64_t numbers() const noexcept { return 1ull << number_bits_; }
  [[nodiscard]] std::uint64_t sequences() const noexcept { return 1ull << sequence_bits_; }
  [[nodiscard]] std::uint64_t max_in_flight() const noexcept { return sequences() / 2; }

  /// The part that all messages of one communicator share.
  [[nodiscard]] std::uint64_t context(ContextId id) const noexcept {
    return static_cast<std::uint64_t>(id.owner) << owner_shift_ | static_cast<std::uint64_t>(id.number)
                                                                      << number_shift_;
  }
  [[nodiscard]] std::uint64_t sequence(std::uint64_t sequence) const noexcept {
    return (sequence & (sequences() - 1)) << sequence_shift_;
  }
  /// The sequence part of a persistent exchange; these are counted for themselves.
  [[nodiscard]] std::uint64_t persistent(std::uint64_t number) const noexcept { return persistent_ | sequence(number); }
  /// The part that tells the messages of one run apart; `source` is the sender's rank in the job.
  [[nodiscard]] std::uint64_t message(Rank source, std::uint32_t slot) const noexcept {
    return (source_bits_ > 0 ? static_cast<std::uint64_t>(source) << source_shift_ : 0) | slot;
  }
  [[nodiscard]] std::uint64_t framed() const noexcept { return framed_; }
  /// The tag of all point-to-point envelopes: of a context that no communicator has, number 0 of the job's rank 1. (In
  /// a job of one nothing is sent.)
  [[nodiscard]] std::uint64_t point_to_point() const noexcept { return 1ull << owner_shift_; }
  [[nodiscard]] bool is_point_to_point(std::uint64_t tag) const noexcept { return tag == point_to_point(); }
  /// The bytes of a long point-to-point message, which no inbox takes in: asked for under a number below
  /// point_to_point_payloads().
  [[nodiscard]] std::uint64_t point_to_point_payload(Rank source, std::uint32_t number) const noexcept {
    return point_to_point() | later_ | sequence(number >> kSlotBits) |
           message(source, number & static_cast<std::uint32_t>(slots() - 1));
  }
  [[nodiscard]] std::uint64_t point_to_point_payloads() const noexcept { return slots() * sequences(); }
  /// The bytes of a message that waits at its sender: by its number among the messages between these two ranks. Of
  /// those that wait, no two have numbers that differ by point_to_point_payloads().
  [[nodiscard]] std::uint64_t point_to_point_offer(Rank source, std::uint32_t number) const noexcept {
    return point_to_point_payload(source, number) | persistent_;
  }
  /// The bit that no first part has.
  [[nodiscard]] std::uint64_t later_mark() const noexcept { return later_; }
  /// How many parts there may be between the first and the last: half of what `part` can be, up to 256; none in narrow
  /// tags.
  [[nodiscard]] std::uint32_t middle_parts() const noexcept {
    return part_bits_ > kMinPartBits ? std::min(1u << (part_bits_ - 1), 256u) : 0;
  }
  /// The mark of such a part, number < middle_parts().
  [[nodiscard]] std::uint64_t middle(std::uint32_t number) const noexcept {
    return later_ | std::uint64_t{number} << kSlotBits;
  }
  /// The mark of the last part of a message of so many bytes.
  [[nodiscard]] std::uint64_t last(std::uint64_t message_bytes) const noexcept {
    const unsigned hash_bits = middle_parts() > 0 ? part_bits_ - 1 : part_bits_;
    const std::uint64_t hash = hash_of(message_bytes) >> (64 - hash_bits);
    const std::uint64_t above_numbers = (1ull << part_bits_) - (1ull << hash_bits);
    return later_ | (above_numbers | hash) << kSlotBits;
  }

 private:
  static constexpr unsigned kMinPartBits = 3;

  unsigned part_bits_ = 0;
  unsigned source_bits_ = 0;
  unsigned sequence_bits_ = 0;
  unsigned number_bits_ = 0;
  unsigned source_shift_ = 0;
  unsigned sequence_shift_ = 0;
  unsigned number_shift_ = 0;
  unsigned owner_shift_ = 0;
  std::uint64_t persistent_ = 0;
  std::uint64_t later_ = 0;
  std::uint64_t framed_ = 0;
};

}  // namespace fab::core
