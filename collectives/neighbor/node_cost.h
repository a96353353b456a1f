// A model of whether messages between two nodes pay for going by their carriers, with the figures that it supposes.
#pragma once

#include <cstdint>

#include "collectives/neighbor/node_pairs.h"

namespace fab::collectives {

/// What goes from one node to another one.
struct PairTraffic {
  std::uint64_t messages = 0;     ///< pairs of ranks with edges: the edges of one pair of ranks are one message
  std::uint64_t bytes = 0;        ///< of all edges
  std::uint64_t value_bytes = 0;  ///< each value once
  std::uint64_t sources = 0;
  std::uint64_t destinations = 0;
};
[[nodiscard]] PairTraffic traffic_of(const NodePair& pair);

/// What carries messages between nodes. A word that ranks send to each other.
enum class NodeNetwork : std::uint64_t { kernel, card };

/// Figures of a cluster, in microseconds.
struct NodeFigures {
  double message_us;       ///< a message between nodes: what it costs sender, card and receiver
  double byte_us;          ///< a byte of it
  double node_message_us;  ///< a message within a node
  double node_byte_us;     ///< a byte of it, packed at the carrier and copied by the receiver
};
/// Of TCP as measured (docs/lab/collectives.md), but for its bytes, since networks are faster than the one measured; of
/// cards as providers/sim/networks/infiniband-edr.json has them.
[[nodiscard]] const NodeFigures& figures_of(NodeNetwork network) noexcept;

/// Direct: each message by itself. By nodes: one message between the nodes, one from each source before it, and one to
/// each destination behind it; and two messages' time in the nodes for which the first one waits.
struct PairCost {
  double direct_us = 0;
  double by_node_us = 0;

  [[nodiscard]] bool by_node_pays() const noexcept { return by_node_us < direct_us; }
};
[[nodiscard]] PairCost cost_of(const PairTraffic& traffic, const NodeFigures& figures);

}  // namespace fab::collectives
