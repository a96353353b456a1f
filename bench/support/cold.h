// Timing calls as programs make them: after computing, so that caches hold the program's data and not the library's.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace bench {

/// Makes call number i. Collective over MPI_COMM_WORLD.
using OneCall = std::function<void(int i)>;

struct ColdPlan {
  int batches = 15;
  int calls = 40;           ///< of a batch
  std::size_t sweep_bytes;  ///< of memory that each rank reads and writes ahead of each call
};

/// Microseconds of each contestant by batch, the median of a batch's calls, in turns. A call takes from the time at
/// which the last rank calls to the time at which the last rank has it, so all ranks must share one clock. Collective.
[[nodiscard]] std::vector<std::vector<double>> time_cold_in_turns(const ColdPlan& plan,
                                                                  const std::vector<OneCall>& contestants);

}  // namespace bench
