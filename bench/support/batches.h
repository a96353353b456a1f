// Timing contestants against each other, in turns.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/statistics.h"

namespace bench {

/// Makes that many calls, one after the other. Collective over MPI_COMM_WORLD.
using Calls = std::function<void(int count)>;

struct BatchPlan {
  int batches = 31;
  double batch_ms = 5;       ///< the number of calls in a batch is chosen so that it takes about as long
  int calls = 0;             ///< calls in a batch; 0: by batch_ms
  int warmup = 0;            ///< calls ahead of the first batch, beyond those that find out how long one takes
  bool percentiles = false;  ///< times each call by itself, too
};

/// One contestant's times.
struct Times {
  int calls_per_batch = 0;
  std::vector<double> us;                  ///< microseconds per call, by batch
  std::optional<Percentiles> single_us{};  ///< of calls by themselves
};

/// How many calls of `calls` the plan asks for in a batch; the same on all ranks. Warms up on the way: at least two
/// calls are made. Collective.
[[nodiscard]] int calls_per_batch(const BatchPlan& plan, const Calls& calls);

/// Runs the contestants in turns, A B A B ..., after a warm-up, each batch behind a barrier. A batch has the same
/// number of calls for all of them, as calls in a row may overlap: that of the quickest, unless a batch of the slowest
/// took more than 4 times as long as planned. Percentiles are of further calls, in turns, too. Times are means over the
/// ranks. Collective.
[[nodiscard]] std::vector<Times> time_in_turns(const BatchPlan& plan, const std::vector<Calls>& contestants);

/// A barrier over all ranks.
void meet();

/// Turns the values of each rank into their mean over the ranks, on all ranks. Collective.
void average_over_ranks(std::vector<double>& values);
/// The percentiles of this rank's sample become their means over the ranks, on all ranks. Collective.
[[nodiscard]] Percentiles mean_percentiles(std::vector<double> sample);
/// The names that at least one rank has, on all ranks. Collective.
[[nodiscard]] std::set<std::string> union_over_ranks(const std::set<std::string>& names);

}  // namespace bench
