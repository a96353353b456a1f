// Deals what a rank did to tracks, in each of which nothing overlaps, as viewers want it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bindings/tools/trace/timeline.h"

namespace fab::tools {

/// Puts intervals into rows in which none overlap: the row of each, in the order of `intervals`, which are sorted by
/// begin. Returns as few rows as there are intervals at one time.
[[nodiscard]] std::vector<std::size_t> rows_of(const std::vector<Interval>& intervals);

/// A track for each operation of a rank; several, where its starts overlap.
struct ExchangeTracks {
  explicit ExchangeTracks(const RankTimeline& rank);

  std::vector<std::size_t> of_exchange;  ///< in `names`, for each exchange of the rank
  std::vector<std::string> names{};      ///< "neighbor_xchg"; "neighbor_xchg 1", "neighbor_xchg 2"
};

/// The rounds of an exchange that has several.
[[nodiscard]] std::vector<Interval> rounds_of(const RankTimeline& rank, const Exchange& exchange);

/// By begin. Of several threads that wait the times would overlap: a later one begins where the earlier one ends.
[[nodiscard]] std::vector<Wait> waits_in_turn(const RankTimeline& rank);
/// "wait for neighbor_xchg"; "wait" where its start was lost.
[[nodiscard]] std::string name_of(const RankTimeline& rank, const Wait& wait);

/// When the progress thread did not sleep, between its first and its last sleep.
[[nodiscard]] std::vector<Interval> awake_times(const RankTimeline& rank);

}  // namespace fab::tools
