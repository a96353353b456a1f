// Chooses the calls that fab carries by default: those along a topology, and on few ranks the others but for those at
// which the MPI below was measured to be faster.
#pragma once

#include <cstddef>

#include "bindings/dropin/functions.h"

namespace fab::dropin {

/// Of calls in which ranks do not know the sizes of others' blocks.
inline constexpr std::size_t kUnknownBytes = static_cast<std::size_t>(-1);

/// fab's own collectives were measured with as many ranks of a node, and under the drop-in library with up to 4. Apart
/// from those along topologies fab leaves them to MPI on more.
inline constexpr int kMostRanksMeasured = 8;

/// What all ranks know of a call, but for its communicator.
struct Shape {
  std::size_t bytes = kUnknownBytes;  ///< of the vector, or of the block of one rank
  bool can_reduce = true;             ///< it is no reduction, or one that fab has numbers for
  bool user_operation = false;        ///< a reduction by a function of MPI_Op_create
};

struct Situation {
  Function function;
  Form form;
  int ranks;
  bool one_node;  ///< all ranks share memory; of no matter on more ranks than were measured
};

/// The figures behind it are in docs/lab/drop-in.md.
[[nodiscard]] bool pays(const Situation& situation, const Shape& shape) noexcept;

}  // namespace fab::dropin
