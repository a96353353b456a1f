// Neighbour exchanges by nodes: what one node sends to another one, and the ranks that carry it.
//
// The blocks that the ranks of a node have for the ranks of another one are gathered at a rank of the node, the sending
// carrier of this pair of nodes. They go to the receiving carrier in one message, which brings them to the ranks of its
// node. A value that several neighbours get, out of the same memory, travels once (Bienz, Gropp, Olson, Node Aware
// Sparse Matrix-Vector Multiplication, 2019; Collom, Li, Bienz, Optimizing Irregular Communication with Neighborhood
// Collectives and Locality-Aware Parallelism, 2023).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/topology/node_map.h"
#include "fab/schedule.h"
#include "fab/topology.h"

namespace fab::collectives {

/// An edge between ranks of two nodes.
struct NodeEdge {
  Rank source = 0;
  Rank destination = 0;
  std::uint32_t slot = 0;
  std::uint32_t value = 0;  ///< which of the values that its source sends to that node, from 0; known at the source
  std::uint64_t bytes = 0;

  bool operator==(const NodeEdge&) const = default;
};

/// All edges from one node to another one, by source, destination and slot.
struct NodePair {
  int from = 0;
  int to = 0;
  std::vector<NodeEdge> edges;
};

/// The rank of node `from` that sends to node `to`, and the rank of `to` that receives it. A node's ranks take turns,
/// and the ranks that receive are others than those that send, as far as there are enough.
[[nodiscard]] Rank sending_carrier(const core::NodeMap& map, int from, int to);
[[nodiscard]] Rank receiving_carrier(const core::NodeMap& map, int from, int to);

/// The slots from this one on are those of messages to, between and from carriers.
inline constexpr std::uint32_t kCarrierSlots = 253;

/// The edges of a rank that lead to other nodes, and those that come from there, in the order of the topology.
/// `outgoing` and `incoming` are the blocks of its destinations and sources. Blocks for the same node that have the
/// same place and layout are one value. A rank that sends to another one of its node along so many edges that these
/// need the slots of carriers gives sizes that no other rank agrees to, so all that it sends goes directly; so does one
/// that receives along so many, where a carrier's message could be taken for one of those.
struct NodeEdges {
  std::vector<NodeEdge> outgoing;
  std::vector<NodeEdge> incoming;
};
[[nodiscard]] NodeEdges edges_between_nodes(const core::NodeMap& map, Rank self, const Neighborhood& neighborhood,
                                            std::span<const Block> outgoing, std::span<const Block> incoming);

}  // namespace fab::collectives
