#include "support/cold.h"

#include <algorithm>
#include <ctime>

#include "apps/mpi_call.h"
#include "support/statistics.h"

namespace bench {

namespace {

using apps::check_mpi;

/// The same in all processes of a machine, also where they have other namespaces of the network.
double now_us() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

void sweep(std::vector<double>& memory) {
  for (double& each : memory) each = 0.5 * each + 1;
}

std::vector<double> latest(std::vector<double> times) {
  check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
      "MPI_Allreduce");
  return times;
}

double median_us(const OneCall& call, int calls, std::vector<double>& memory) {
  std::vector<double> starts;
  std::vector<double> ends;
  starts.reserve(static_cast<std::size_t>(calls));  // nothing is allocated in the times
  ends.reserve(static_cast<std::size_t>(calls));
  check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  for (int i = 0; i < calls; ++i) {
    sweep(memory);
    starts.push_back(now_us());
    call(i);
    ends.push_back(now_us());
  }
  const std::vector<double> last_starts = latest(std::move(starts));
  std::vector<double> took = latest(std::move(ends));
  for (std::size_t i = 0; i < took.size(); ++i) took[i] -= last_starts[i];
  return spread_of(std::move(took)).median;
}

}  // namespace

std::vector<std::vector<double>> time_cold_in_turns(const ColdPlan& plan, const std::vector<OneCall>& contestants) {
  std::vector<double> memory(plan.sweep_bytes / sizeof(double), 1.0);
  std::vector<std::vector<double>> us(contestants.size());
  for (const OneCall& contestant : contestants) median_us(contestant, plan.calls, memory);  // connects and builds
  for (int batch = 0; batch < plan.batches; ++batch)
    for (std::size_t i = 0; i < contestants.size(); ++i) us[i].push_back(median_us(contestants[i], plan.calls, memory));
  return us;
}

}  // namespace bench
