#include "support/batches.h"

#include <algorithm>

#include "apps/mpi_call.h"

namespace bench {
namespace {

using apps::check_mpi;

constexpr int kMostCalls = 20000;
constexpr int kTrials = 3;

double seconds_of(const Calls& calls, int count) {
  meet();
  const double begin = MPI_Wtime();
  calls(count);
  return MPI_Wtime() - begin;
}

double slowest(double seconds) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return seconds;
}

// Of some trials: one that the machine disturbs would make all batches too short.
double quickest(const Calls& calls, int count) {
  double seconds = slowest(seconds_of(calls, count));
  for (int trial = 1; trial < kTrials; ++trial) seconds = std::min(seconds, slowest(seconds_of(calls, count)));
  return seconds;
}

}  // namespace

int calls_per_batch(const BatchPlan& plan, const Calls& calls) {
  seconds_of(calls, 1);  // connects and builds
  if (plan.calls > 0) {
    seconds_of(calls, 1);
    return plan.calls;
  }
  const double wanted = plan.batch_ms * 1e-3;
  int count = 1;
  double seconds = quickest(calls, count);
  while (seconds < wanted / 4 && count < kMostCalls) {
    count = std::min(count * 4, kMostCalls);
    seconds = quickest(calls, count);
  }
  return std::clamp(static_cast<int>(count * wanted / seconds), 1, kMostCalls);
}

std::vector<std::vector<double>> time_in_turns(const BatchPlan& plan, const std::vector<Calls>& contestants) {
  std::vector<int> counts;
  counts.reserve(contestants.size());
  for (const Calls& calls : contestants) counts.push_back(calls_per_batch(plan, calls));
  std::vector<std::vector<double>> times_us(contestants.size());
  for (int batch = 0; batch < plan.batches; ++batch) {
    for (std::size_t i = 0; i < contestants.size(); ++i)
      times_us[i].push_back(1e6 * seconds_of(contestants[i], counts[i]) / counts[i]);
  }
  for (std::vector<double>& times : times_us) average_over_ranks(times);
  return times_us;
}

void meet() { check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }

void average_over_ranks(std::vector<double>& values) {
  int ranks = 0;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
      "MPI_Allreduce");
  for (double& value : values) value /= ranks;
}

}  // namespace bench
