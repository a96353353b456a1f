// A trace file: what one rank did, and when.
//
//     bytes           what
//     8               kTraceMagic
//     4               kTraceVersion
//     4               bytes of a record: 32
//     8               bytes of the head, h
//     8               records, n
//     h               the head: an object of JSON (core/trace/trace_file.cpp)
//     32 n            the records, in no order
//
// Numbers have the byte order of the machine, which the version shows. A reader refuses other versions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "fab/message.h"
#include "fab/topology.h"

namespace fab::core {

inline constexpr std::string_view kTraceMagic{"FABTRACE"};
inline constexpr std::uint32_t kTraceVersion = 1;

/// What has happened. `exchange` is the number of a start on its rank: of an exchange, or of a message from rank to
/// rank. Rounds count from 0.
enum class TraceEvent : std::uint8_t {
  start = 1,  ///< of `exchange`; word: the same at both ends of each of its messages; bytes: how many-eth start of its
              ///< operation, from 1 on; peer: its operation's place in the head's list
  round,      ///< its messages are about to be posted; the first round has none
  send,       ///< a message is about to be posted; word: its key
  send_done,  ///< the same, and the buffer was free at once
  sent,       ///< the buffer of an earlier `send` is free
  received,   ///< a message is in its place
  end,        ///< of `exchange`; bytes: 0, or 1 if it failed
  wait,       ///< a caller has waited for `exchange` until now; word: since when
  sleep       ///< the progress thread has slept until now; word: since when
};
inline constexpr TraceEvent kLastTraceEvent = TraceEvent::sleep;

/// A message is known by its source, destination, key, the word of its exchange's start, and its place among messages
/// that are equal in those: they keep their order.
struct TraceRecord {
  static constexpr unsigned kBytesBits = 40;
  static constexpr unsigned kRoundBits = 16;
  static constexpr unsigned kWayBits = 4;
  static constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << kBytesBits) - 1;
  static constexpr std::uint32_t kLastRound = (1u << kRoundBits) - 1;

  std::uint64_t time_ns = 0;  ///< of the rank's CLOCK_MONOTONIC
  std::uint64_t word = 0;     ///< see TraceEvent
  /// From the lowest bit on: bytes 40, round 16, way 4 (its place in the head's list), event 4. Larger numbers of bytes
  /// and rounds stand as the largest.
  std::uint64_t details = 0;
  std::uint32_t exchange = 0;
  Rank peer = kNoRank;  ///< of the job

  [[nodiscard]] static constexpr std::uint64_t pack(TraceEvent event, std::uint64_t bytes = 0, std::uint32_t round = 0,
                                                    unsigned way = 0) noexcept {
    return std::min(bytes, kMostBytes) | std::uint64_t{std::min(round, kLastRound)} << kBytesBits |
           std::uint64_t{way} << (kBytesBits + kRoundBits) |
           static_cast<std::uint64_t>(event) << (kBytesBits + kRoundBits + kWayBits);
  }
  [[nodiscard]] constexpr TraceEvent event() const noexcept {
    return static_cast<TraceEvent>(details >> (kBytesBits + kRoundBits + kWayBits));
  }
  [[nodiscard]] constexpr unsigned way() const noexcept {
    return static_cast<unsigned>(details >> (kBytesBits + kRoundBits)) & ((1u << kWayBits) - 1);
  }
  [[nodiscard]] constexpr std::uint32_t round() const noexcept {
    return static_cast<std::uint32_t>(details >> kBytesBits) & kLastRound;
  }
  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept { return details & kMostBytes; }
  bool operator==(const TraceRecord&) const = default;
};
static_assert(sizeof(TraceRecord) == 32);

}  // namespace fab::core
