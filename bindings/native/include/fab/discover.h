// Sparse dynamic data exchange: ranks know to whom they will send, and find out who will send to them. For patterns
// that change, as with adaptive meshes, particles or the columns of a sparse matrix. (Hoefler, Siebert, Lumsdaine:
// Scalable Communication Protocols for Dynamic Sparse Data Exchange, PPoPP 2010.)
//
// Common to all calls
//   - `destinations` are the ranks to which this one will send, each once, in any order; this rank itself may be among
//     them. A rank with none calls as well, as the calls are collective. Sources come in ascending order.
//   - On many ranks, or with long blocks, the time grows with the number of neighbours and with log P, and no memory
//     grows with P: synchronous messages and a non-blocking barrier. On few ranks an alltoall is faster.
//     FAB_ALGO_DISCOVER chooses (`fab_info --algorithms`).
//   - A discovery takes one place in the order of the communicator's calls. Messages of discoveries that follow each
//     other, or of other communicators, never meet, and receives of the caller's never take them.
//   - Blocking only, as the messages depend on what the ranks say.
//   - Throws Error(invalid_rank) for a destination outside the communicator, Error(invalid_argument) for one that
//     stands twice, and the errors of Request::wait. If a rank refuses the call, it fails on all ranks of the
//     communicator; if one is lost, on every rank that depends on it.
// `Communicator::distributed_graph_to` makes a communicator of the pattern that it discovers.
#pragma once

#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "fab/api.h"
#include "fab/buffer.h"
#include "fab/communicator.h"

namespace fab {

/// The ranks that have this one among their destinations, and their blocks: that of sources[i] is the i-th of `blocks`,
/// which has as many elements for each source.
template <class T>
struct Discovered {
  std::vector<Rank> sources{};  ///< ranks of the communicator, each once, ascending
  std::vector<T> blocks{};      ///< the blocks of the sources, one behind the other
};

/// Returns the ranks that will send to this one.
[[nodiscard]] FAB_API std::vector<Rank> discover(const Communicator& communicator, std::span<const Rank> destinations);

/// Returns the ranks that will send to this one, and brings a block of `block_bytes` bytes to each destination: block i
/// of `blocks` to destinations[i]. `block_bytes` is the same on all ranks; if not, the call fails with Errc::mismatch
/// or Errc::truncated. Throws Error(invalid_count) if `blocks` has another size than these blocks together, and if a
/// block from each rank would not fit into memory.
[[nodiscard]] FAB_API Discovered<std::byte> discover(const Communicator& communicator,
                                                     std::span<const Rank> destinations,
                                                     std::span<const std::byte> blocks, std::size_t block_bytes);

/// Discovers, and brings blocks, as above: of a buffer (fab/buffer.h) with `elements` elements for each destination,
/// for instance one number: how many elements will come. `auto [sources, counts] = fab::discover(world, destinations,
/// my_counts);`
template <SendBuffer Buffer>
[[nodiscard]] Discovered<ElementOf<Buffer>> discover(const Communicator& communicator,
                                                     std::span<const Rank> destinations, Buffer&& blocks,
                                                     std::size_t elements = 1) {
  using Element = ElementOf<Buffer>;
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  const std::size_t block_bytes = elements > kMost / sizeof(Element) ? kMost /* refused */ : elements * sizeof(Element);
  Discovered<std::byte> found = discover(communicator, destinations,
                                         std::as_bytes(detail::elements_of(std::forward<Buffer>(blocks))), block_bytes);
  Discovered<Element> typed{std::move(found.sources), std::vector<Element>(found.blocks.size() / sizeof(Element))};
  if (!found.blocks.empty()) std::memcpy(typed.blocks.data(), found.blocks.data(), found.blocks.size());
  return typed;
}

}  // namespace fab
