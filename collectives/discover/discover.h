// Sparse dynamic data exchange: ranks know to whom they will send, and find out who will send to them. (Hoefler,
// Siebert, Lumsdaine: Scalable Communication Protocols for Dynamic Sparse Data Exchange, PPoPP 2010.)
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/config.h"
#include "core/communicator/communicator.h"

namespace fab::collectives {

/// What a rank knows. `block_bytes` is the same on all ranks.
struct Discovery {
  std::span<const Rank> destinations{};  ///< each once
  const std::byte* blocks = nullptr;     ///< one for each destination, one behind the other
  std::size_t block_bytes = 0;

  [[nodiscard]] const std::byte* block(std::size_t i) const noexcept {
    return block_bytes == 0 ? nullptr : blocks + i * block_bytes;
  }
};

/// What it learns: the sources, and their blocks one behind the other.
struct Discovered {
  std::vector<Rank> sources{};
  std::vector<std::byte> blocks{};

  void add(Rank source, const std::byte* block, std::size_t block_bytes) {
    sources.push_back(source);
    if (block_bytes > 0) blocks.insert(blocks.end(), block, block + block_bytes);
  }
};

/// Returns when this rank knows all of its sources, which are in ascending order. Throws Error(invalid_rank,
/// invalid_argument) for destinations that are no ranks, or that stand twice, and what waiting throws.
[[nodiscard]] Discovered discover(const std::shared_ptr<core::Communicator>& communicator, const Discovery& call);

/// A way to do it; each in its own file.
using DiscoverWay = Discovered(const std::shared_ptr<core::Communicator>&, const Discovery&);

struct DiscoverRow {
  DiscoverAlgorithm algorithm{};
  const char* name = "";  ///< as in FAB_ALGO_DISCOVER
  const char* description = "";
  DiscoverWay* discover = nullptr;
};
[[nodiscard]] std::span<const DiscoverRow> discover_algorithms();
/// Which of them a call takes; all ranks choose the same.
[[nodiscard]] const DiscoverRow& discover_algorithm(DiscoverAlgorithm wanted, int ranks, std::size_t block_bytes);

}  // namespace fab::collectives
