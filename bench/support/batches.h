// Timing contestants against each other, in turns.
#pragma once

#include <functional>
#include <vector>

namespace bench {

/// Makes that many calls, one after the other. Collective over MPI_COMM_WORLD.
using Calls = std::function<void(int count)>;

struct BatchPlan {
  int batches = 31;
  double batch_ms = 5;  ///< the number of calls in a batch is chosen so that it takes about as long
  int calls = 0;        ///< calls in a batch; 0: by batch_ms
};

/// How many calls of `calls` the plan asks for in a batch; the same on all ranks. Warms up on the way: at least two
/// calls are made. Collective.
[[nodiscard]] int calls_per_batch(const BatchPlan& plan, const Calls& calls);

/// Runs the contestants in turns, A B A B ..., after a warm-up, each batch behind a barrier. Returns for each
/// contestant and batch the microseconds per call, a mean over the ranks. Collective.
[[nodiscard]] std::vector<std::vector<double>> time_in_turns(const BatchPlan& plan,
                                                             const std::vector<Calls>& contestants);

/// A barrier over all ranks.
void meet();

/// Turns the values of each rank into their mean over the ranks, on all ranks. Collective.
void average_over_ranks(std::vector<double>& values);

}  // namespace bench
