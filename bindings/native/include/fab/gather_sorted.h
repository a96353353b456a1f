// Sorted gather: every rank sends one message to the root, which gets them in the order of keys (Lang,
// Distributed-Memory Programming Models II).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "fab/api.h"
#include "fab/communicator.h"

namespace fab {

/// A part of a message, as the root receives it. The bytes are valid until the function that receives the part returns.
struct SortedPart {
  Rank source = 0;                     ///< the rank that sent the message
  std::int64_t key = 0;                ///< the key that it gave
  std::size_t message_bytes = 0;       ///< size of the whole message
  std::size_t offset = 0;              ///< position of these bytes in it
  std::span<const std::byte> bytes{};  ///< at most `packet_bytes` of the call; empty for an empty message
};

/// Every rank sends the root one message of any length, with a key. At the root, `consume` gets the messages in
/// ascending order of keys, and messages with equal keys in the order of ranks. A message comes in one or more parts,
/// in their order; an empty message is one part. On other ranks `consume` is ignored. A rank holds at most two packets
/// of `packet_bytes` for each of its children in a binomial tree (at most log2 P), however long messages are and
/// however many ranks there are.
///
/// Collective: root and packet_bytes are the same on all ranks. Blocking only, as the keys decide what goes where; the
/// call takes as long as `consume` does. An exception of `consume` is thrown once all messages have passed. `consume`
/// must not call fab. Throws Error(invalid_rank) for a root that is no rank, Error(invalid_argument) for packets of 0
/// bytes or more than 2^30, and the errors of Request::wait.
FAB_API void gather_sorted(const Communicator& communicator, std::int64_t key, std::span<const std::byte> message,
                           Rank root, const std::function<void(const SortedPart&)>& consume,
                           std::size_t packet_bytes = 4096);

}  // namespace fab
