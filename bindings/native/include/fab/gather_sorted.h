// All-to-one with individual messages in the order of keys (Lang, Distributed-Memory Programming Models II, on the
// hypercube).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "fab/communicator.h"

namespace fab {

/// A part of a message, as the root gets it. The bytes are there until the function returns that is given this.
struct SortedPart {
  Rank source = 0;
  std::int64_t key = 0;
  std::size_t message_bytes = 0;  ///< of the whole message
  std::size_t offset = 0;         ///< of these bytes in it
  std::span<const std::byte> bytes{};
};

/// Every rank sends the root one message of any length, with a key. At the root `consume` gets the messages in
/// ascending order of keys, those with equal keys in the order of ranks, each in one or more parts in their order; a
/// message without bytes is one part. On other ranks it is ignored. No rank holds more than two packets of
/// `packet_bytes` for each of its children in a binomial tree, at most log2 P of them, however long messages are and
/// however many ranks.
///
/// Collective: root and packet_bytes are the same on all ranks. Blocking only, as what goes where depends on the keys;
/// it takes as long as it takes to consume. What `consume` throws comes out when all messages have passed; it must not
/// call fab. Throws Error(invalid_rank) for a root that is no rank, Error(invalid_argument) for packets of no bytes or
/// more than 2^30; otherwise what Request::wait throws.
void gather_sorted(const Communicator& communicator, std::int64_t key, std::span<const std::byte> message, Rank root,
                   const std::function<void(const SortedPart&)>& consume, std::size_t packet_bytes = 4096);

}  // namespace fab
