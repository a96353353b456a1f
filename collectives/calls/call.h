// The shape of a collective call: everything that its algorithms may depend on.
#pragma once

#include <cstddef>
#include <limits>

#include "collectives/calls/block_list.h"
#include "core/base/collective.h"
#include "core/topology/node_map.h"
#include "fab/integers.h"
#include "fab/operator.h"

namespace fab::collectives {

struct Rules;

/// Of calls in which ranks know no blocks but those that they have themselves.
inline constexpr std::size_t kUnknownBytes = std::numeric_limits<std::size_t>::max();

/// Does not own what its blocks, counts, nodes and rules were made from. `bytes`, `ranks`, `root`, `one_node`,
/// `crowded`, `over_tcp`, `nodes`, `rules` and the operation are the same on all ranks, and who talks to whom depends
/// on nothing else, but that empty blocks of alltoallv need no message; layouts, `in_place` and what a rank's own
/// buffers are may differ.
struct CollectiveCall {
  Collective collective = Collective::barrier;
  Rank rank = 0;
  int ranks = 1;
  Rank root = 0;
  bool one_node = false;  ///< all ranks share memory
  bool crowded = false;   ///< and the job has more ranks on this node than the machine has processors
  bool over_tcp = false;  ///< no card carries what goes between nodes; ranks that differ in this cannot meet
  /// Which ranks share a node, where some do; null: all or none do, or it is not known.
  const core::NodeMap* nodes = nullptr;
  const Rules* rules = nullptr;  ///< which choose the algorithms of its steps; null: the built-in ones
  bool in_place = false;         ///< the receive buffer holds what this rank contributes
  bool checked = false;          ///< FAB_CHECK: blocks of no bytes are sent as well, for ranks that disagree about them
  std::size_t bytes = 0;  ///< of the vector, of the block of one rank, or of all blocks where they differ in size
  BlockList send{};       ///< in place: of reductions, what lies in the receive buffer; otherwise ignored
  BlockList recv{};       ///< bcast: the buffer, at the root as well
  /// reduce_scatter: elements of `send` for each rank, the same on all ranks; empty: equal blocks.
  Integers counts{};
  Operator operation{};  ///< of reductions

  /// This rank's vector, for collectives with one.
  [[nodiscard]] Block input() const { return send[0].in(in_place ? BufferId::recv : BufferId::send); }
  [[nodiscard]] Block output() const { return recv[0].in(BufferId::recv); }
  /// Counted from the root.
  [[nodiscard]] int relative() const noexcept { return (rank - root + ranks) % ranks; }
};

}  // namespace fab::collectives
