#include "support/batches.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <sstream>

#include "apps/mpi_call.h"

namespace bench {
namespace {

using apps::check_mpi;

constexpr int kMostCalls = 20000;
constexpr int kTrials = 3;
constexpr std::int64_t kLongestBatch = 4;  ///< times as long as planned
constexpr char kNameEnd = '\n';

double seconds_of(const Calls& calls, int count) {
  meet();
  const double begin = MPI_Wtime();
  calls(count);
  return MPI_Wtime() - begin;
}

void time_singly(const Calls& calls, int count, std::vector<double>& singles_us) {
  meet();
  for (int i = 0; i < count; ++i) {
    const double begin = MPI_Wtime();
    calls(1);
    singles_us.push_back(1e6 * (MPI_Wtime() - begin));
  }
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

// As many turns as batches, for a drift of the machine meets all contestants then.
void add_percentiles(const BatchPlan& plan, const std::vector<Calls>& contestants, int count,
                     std::vector<Times>& times) {
  std::vector<std::vector<double>> singles(contestants.size());
  for (int batch = 0; batch < plan.batches; ++batch) {
    for (std::size_t i = 0; i < contestants.size(); ++i) time_singly(contestants[i], count, singles[i]);
  }
  for (std::size_t i = 0; i < contestants.size(); ++i) times[i].single_us = mean_percentiles(std::move(singles[i]));
}

/// Of each of the contestants.
int calls_per_batch_of_all(const BatchPlan& plan, const std::vector<Calls>& contestants) {
  std::int64_t least = kMostCalls;
  std::int64_t most = 1;
  for (const Calls& calls : contestants) {
    const int wanted = calls_per_batch(plan, calls);
    least = std::min<std::int64_t>(least, wanted);
    most = std::max<std::int64_t>(most, wanted);
  }
  return static_cast<int>(std::min(most, kLongestBatch * least));
}

}  // namespace

int calls_per_batch(const BatchPlan& plan, const Calls& calls) {
  seconds_of(calls, 1);  // connects and builds
  if (plan.warmup > 0) seconds_of(calls, plan.warmup);
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

std::vector<Times> time_in_turns(const BatchPlan& plan, const std::vector<Calls>& contestants) {
  const int count = calls_per_batch_of_all(plan, contestants);
  std::vector<Times> times(contestants.size());
  for (Times& each : times) each.calls_per_batch = count;
  for (int batch = 0; batch < plan.batches; ++batch) {
    for (std::size_t i = 0; i < contestants.size(); ++i)
      times[i].us.push_back(1e6 * seconds_of(contestants[i], count) / count);
  }
  for (Times& each : times) average_over_ranks(each.us);
  if (plan.percentiles) add_percentiles(plan, contestants, count, times);
  return times;
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

Percentiles mean_percentiles(std::vector<double> sample) {
  const Percentiles mine = percentiles_of(std::move(sample));
  std::vector<double> mean = {mine.p50, mine.p90, mine.p99};
  average_over_ranks(mean);
  return {.p50 = mean[0], .p90 = mean[1], .p99 = mean[2]};
}

std::set<std::string> union_over_ranks(const std::set<std::string>& names) {
  std::string mine;
  for (const std::string& name : names) mine += name + kNameEnd;
  int ranks = 0;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  const int size = static_cast<int>(mine.size());
  std::vector<int> sizes(static_cast<std::size_t>(ranks));
  check_mpi(MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, MPI_COMM_WORLD), "MPI_Allgather");
  std::vector<int> places(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), places.begin(), 0);
  std::string all(static_cast<std::size_t>(places.back() + sizes.back()), kNameEnd);
  check_mpi(
      MPI_Allgatherv(mine.data(), size, MPI_CHAR, all.data(), sizes.data(), places.data(), MPI_CHAR, MPI_COMM_WORLD),
      "MPI_Allgatherv");
  std::set<std::string> united;
  std::istringstream lines(all);
  for (std::string name; std::getline(lines, name, kNameEnd);) united.insert(name);
  return united;
}

}  // namespace bench
