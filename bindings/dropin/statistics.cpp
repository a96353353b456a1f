#include "bindings/dropin/statistics.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "bindings/dropin/next_calls.h"
#include "bindings/dropin/settings.h"
#include "bindings/mpi/base/failure.h"

namespace fab::dropin {

namespace {

/// The counts of a function as numbers that MPI can add.
constexpr std::size_t kNumbers = kFates + 2;
using Numbers = std::array<std::uint64_t, kNumbers>;

Numbers numbers_of(const Count& count) {
  Numbers numbers{};
  std::ranges::transform(count.calls, numbers.begin(), [](const auto& calls) { return calls.load(); });
  numbers[kFates] = count.bytes;
  numbers[kFates + 1] = count.nanoseconds;
  return numbers;
}

std::string reasons(std::span<const std::uint64_t> calls) {
  std::string text;
  for (std::size_t fate = 1; fate < kFates; ++fate)
    if (calls[fate] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kFateNames[fate], calls[fate]);
  return text;
}

void print(std::span<const Numbers> rows, int ranks) {
  std::string table = fmt::format(
      "fab: MPI's collectives under libfab_dropin, all {} ranks together (FAB_STATS=0: no table)\n"
      "{:<22} {:>11} {:>11} {:>9} {:>10}  {}\n",
      ranks, "function", "carried", "passed on", "MiB", "s in fab", "passed on because of");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<const std::uint64_t> calls(rows[i].data(), kFates);
    const std::uint64_t passed = std::accumulate(calls.begin() + 1, calls.end(), std::uint64_t{0});
    if (calls[0] + passed == 0) continue;
    constexpr double kMiB = 1024.0 * 1024.0;
    table += fmt::format("{:<22} {:>11} {:>11} {:>9.1f} {:>10.3f}  {}\n", kFunctionNames[i], calls[0], passed,
                         static_cast<double>(rows[i][kFates]) / kMiB, static_cast<double>(rows[i][kFates + 1]) / 1e9,
                         reasons(calls));
  }
  std::fputs(table.c_str(), stderr);
}

std::size_t bytes_of(const collectives::BlockList& blocks) noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) bytes += blocks[i].bytes();
  return bytes;
}

}  // namespace

Count& count_of(Function function) noexcept {
  static std::array<Count, kFunctions> counts;
  return counts[index_of(function)];
}

void count(Function function, Fate fate) noexcept {
  if (!settings().stats) return;
  count_of(function).calls[static_cast<std::size_t>(fate)].fetch_add(1, std::memory_order_relaxed);
}

void recount_as_refused(Function function) noexcept {
  if (!settings().stats) return;
  count(function, Fate::refused);
  count_of(function).calls[static_cast<std::size_t>(Fate::carried)].fetch_sub(1, std::memory_order_relaxed);
}

void count_bytes(Function function, const collectives::BlockList& send, const collectives::BlockList& recv) noexcept {
  if (!settings().stats) return;
  const std::size_t bytes = std::max(bytes_of(send), bytes_of(recv));
  count_of(function).bytes.fetch_add(bytes, std::memory_order_relaxed);
}

Timed::Timed(Function function) noexcept : count_(settings().stats ? &count_of(function) : nullptr) {
  if (count_ != nullptr) begin_ = std::chrono::steady_clock::now();
}

Timed::~Timed() {
  if (count_ == nullptr) return;
  const auto passed = std::chrono::steady_clock::now() - begin_;
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
  count_->nanoseconds.fetch_add(static_cast<std::uint64_t>(nanoseconds), std::memory_order_relaxed);
}

void print_statistics() {
  std::vector<Numbers> mine;
  for (std::size_t i = 0; i < kFunctions; ++i) mine.push_back(numbers_of(count_of(static_cast<Function>(i))));
  std::vector<Numbers> sums(kFunctions);
  int rank = 0;
  int ranks = 1;
  mpi::require(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  mpi::require(PMPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  mpi::require(next_pmpi_calls.reduce(mine.data(), sums.data(), static_cast<int>(kFunctions * kNumbers), MPI_UINT64_T,
                                      MPI_SUM, 0, MPI_COMM_WORLD),
               "MPI_Reduce");
  if (rank == 0) print(sums, ranks);
}

}  // namespace fab::dropin
