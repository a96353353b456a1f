// All-to-one with individual messages on the hypercube, sorted output (Lang, Distributed-Memory Programming Models II):
// the root gets the messages in the order of keys, and no rank holds more than parts of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/communicator/communicator.h"

namespace fab::collectives {

/// What precedes each packet: the message that it is a part of.
struct PacketHead {
  std::int64_t key = 0;
  std::uint64_t bytes = 0;   ///< of the message
  std::uint64_t offset = 0;  ///< of this part in it
  std::uint32_t size = 0;    ///< of this part
  Rank source = -1;          ///< none: no more messages

  [[nodiscard]] bool comes_before(const PacketHead& other) const noexcept {
    return key != other.key ? key < other.key : source < other.source;
  }
  [[nodiscard]] bool is_last_part() const noexcept { return offset + size == bytes; }
};

using ConsumePart = std::function<void(const PacketHead&, const std::byte*)>;

struct SortedGather {
  Rank root = 0;
  std::int64_t key = 0;
  std::span<const std::byte> message{};
  std::size_t packet_bytes = 0;  ///< more than 0, the same on all ranks
};

/// Along a binomial tree every rank merges the sorted streams of its children and its own message into one for its
/// parent, which asks for packets one by one: a rank has one packet of each child, the next ones, and one on its way
/// up. Waits; what `consume`, called at the root, throws comes out when all messages have passed. Throws what waiting
/// throws, and Error(invalid_rank), Error(invalid_argument).
void gather_sorted(const std::shared_ptr<core::Communicator>& communicator, const SortedGather& call,
                   const ConsumePart& consume);

}  // namespace fab::collectives
