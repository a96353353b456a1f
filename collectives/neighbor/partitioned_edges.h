// A persistent exchange along edges whose blocks are sent part by part, as threads mark parts ready.
//
// Neighbouring parts form groups, each of which is one message, with a slot of its own. Both ends of an edge form the
// same groups from the sizes of the parts. Whether they have the same sizes is looked at once, when the exchange is
// made; from then on all messages meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "collectives/calls/block_list.h"
#include "core/communicator/communicator.h"
#include "core/communicator/persistent.h"
#include "core/progress/driver.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// A group has at least so many bytes, unless it is its block's last: a message of 16 KiB costs a processor some
/// microseconds at both ends over TCP, about what a network of 100 Gbit/s takes to carry it. Smaller ones would cost
/// more than they move early.
constexpr std::size_t kLeastGroupBytes = 16 * 1024;
/// Of a block: when its last part is marked, an eighth of it is left to send. All 26 sides of a block in three
/// dimensions may be one neighbour, and a tag tells 256 messages apart.
constexpr std::size_t kMostGroups = 8;

/// The block of an edge, divided.
struct DividedBlock {
  std::vector<Block> groups{};
  std::vector<std::uint32_t> group_of{};  ///< by part; PartedBlock::kNoGroup: it has no bytes
  std::size_t bytes = 0;
};

/// Divides a block whose parts have these sizes; parts(first, count) gives `count` parts as one block.
[[nodiscard]] DividedBlock divide(std::span<const std::size_t> part_bytes, std::size_t most_groups,
                                  const std::function<Block(std::size_t first, std::size_t count)>& parts);

/// One for each destination and for each source.
struct DividedEdges {
  std::vector<DividedBlock> outgoing{};
  std::vector<DividedBlock> incoming{};
  std::size_t most_groups = kMostGroups;
};

/// Waits for this rank's neighbours, with which it compares sizes. `name` outlives the call. Throws Error(mismatch) if
/// the ends of an edge give it other sizes or other numbers of parts, Error(invalid_topology) when a self edge has only
/// one end, what ends the wait, and as Persistent.
[[nodiscard]] core::Persistent make_partitioned(const std::shared_ptr<core::Communicator>& communicator,
                                                std::span<std::byte* const> bases, const Neighborhood& neighborhood,
                                                const DividedEdges& edges, const char* name, core::IdleHook idle);

/// An exchange of equal blocks, each of which consists of `parts` parts one extent apart.
struct PartitionedXchg {
  std::size_t parts = 1;
  BlockView send_part{};  ///< the first one of the first block
  BlockView recv_part{};  ///< likewise
};

/// Between neighbours of a communicator with a topology. Throws Error(invalid_argument) for no parts,
/// Error(invalid_topology) without a topology, and as make_partitioned.
[[nodiscard]] core::Persistent make_partitioned_xchg(const std::shared_ptr<core::Communicator>& communicator,
                                                     const void* send, void* recv, const PartitionedXchg& call,
                                                     core::IdleHook idle = nullptr);

}  // namespace fab::collectives
