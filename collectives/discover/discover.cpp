#include "collectives/discover/discover.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "core/communicator/refused_call.h"
#include "fab/error.h"

namespace fab::collectives {

DiscoverWay discover_nbx, discover_census, discover_exchange;

namespace {

constexpr std::array kRows = {
    DiscoverRow{DiscoverAlgorithm::nbx, "nbx", "synchronous messages, then a non-blocking barrier", discover_nbx},
    DiscoverRow{DiscoverAlgorithm::census, "census", "a sum tells each rank how many messages to expect",
                discover_census},
    DiscoverRow{DiscoverAlgorithm::exchange, "exchange", "an alltoall of flags and blocks", discover_exchange},
};

const DiscoverRow& row_of(DiscoverAlgorithm algorithm) {
  return *std::ranges::find(kRows, algorithm, &DiscoverRow::algorithm);
}

std::vector<std::size_t> in_order_of(std::span<const Rank> ranks) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [ranks](std::size_t i) { return ranks[i]; });
  return order;
}

void check(std::span<const Rank> destinations, int ranks) {
  for (std::size_t i = 0; i < destinations.size(); ++i)
    if (destinations[i] < 0 || destinations[i] >= ranks)
      throw Error(Errc::invalid_rank,
                  fmt::format("discover: destinations[{}] is {}; the communicator has ranks 0 to {}", i,
                              destinations[i], ranks - 1));
  const std::vector<std::size_t> order = in_order_of(destinations);
  const auto twice = std::ranges::adjacent_find(order, {}, [&](std::size_t i) { return destinations[i]; });
  if (twice != order.end())
    throw Error(Errc::invalid_argument,
                fmt::format("discover: destinations[{}] and destinations[{}] are both {}; valid is each rank once",
                            *twice, *(twice + 1), destinations[*twice]));
}

Discovered sorted(Discovered found, std::size_t block_bytes) {
  if (std::ranges::is_sorted(found.sources)) return found;
  Discovered result;
  for (const std::size_t i : in_order_of(found.sources))
    result.add(found.sources[i], found.blocks.data() + i * block_bytes, block_bytes);
  return result;
}

}  // namespace

std::span<const DiscoverRow> discover_algorithms() { return kRows; }

const DiscoverRow& discover_algorithm(DiscoverAlgorithm wanted, int ranks, std::size_t block_bytes) {
  if (wanted != DiscoverAlgorithm::automatic) return row_of(wanted);
  // Measured on up to 8 ranks (docs/lab/collectives.md).
  constexpr int kFewRanks = 16;
  constexpr std::size_t kShortBytes = 32 << 10;  // of all blocks of a rank
  const bool all_at_once = ranks <= kFewRanks && block_bytes <= kShortBytes / static_cast<std::size_t>(ranks);
  return row_of(all_at_once ? DiscoverAlgorithm::exchange : DiscoverAlgorithm::nbx);
}

Discovered discover(const std::shared_ptr<core::Communicator>& communicator, const Discovery& call) {
  core::in_order(*communicator, [&] { check(call.destinations, communicator->size()); });
  const DiscoverAlgorithm wanted = communicator->context().config().discover;
  const DiscoverRow& row = discover_algorithm(wanted, communicator->size(), call.block_bytes);
  return sorted(row.discover(communicator, call), call.block_bytes);
}

}  // namespace fab::collectives
