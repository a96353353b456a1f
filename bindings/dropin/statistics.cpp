#include "bindings/dropin/statistics.h"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "bindings/dropin/next_calls.h"
#include "bindings/dropin/settings.h"
#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/process_context.h"
#include "core/statistics/job_file.h"

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

/// The last row: completion calls, which have no other numbers.
constexpr std::size_t kCompletions = kFunctions;
constexpr std::size_t kRows = kFunctions + 1;

std::array<Count, kRows>& counts() noexcept {
  static std::array<Count, kRows> all;
  return all;
}

void add_time(Count& count, std::chrono::nanoseconds took) noexcept {
  count.nanoseconds.fetch_add(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
}

void add_call(Count& count, Fate fate) noexcept {
  count.calls[static_cast<std::size_t>(fate)].fetch_add(1, std::memory_order_relaxed);
}

void completed(std::chrono::nanoseconds took) noexcept {
  Count& count = counts()[kCompletions];
  add_call(count, Fate::carried);
  add_time(count, took);
}

double seconds_of(const Numbers& row) noexcept { return static_cast<double>(row[kFates + 1]) / 1e9; }

std::string reasons(std::span<const std::uint64_t> calls) {
  std::string text;
  for (std::size_t fate = 1; fate < kFates; ++fate)
    if (calls[fate] > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kFateNames[fate], calls[fate]);
  return text;
}

struct Row {
  std::string_view function;
  std::span<const std::uint64_t> calls;  ///< by fate
  std::uint64_t passed;                  ///< the sum of all but the carried
  const Numbers& numbers;
};

/// Of the functions that were called, in the order of functions.h.
std::vector<Row> rows_of(std::span<const Numbers> sums) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < kFunctions; ++i) {
    const std::span<const std::uint64_t> calls(sums[i].data(), kFates);
    const std::uint64_t passed = std::accumulate(calls.begin() + 1, calls.end(), std::uint64_t{0});
    if (calls[0] + passed > 0) rows.push_back({kFunctionNames[i], calls, passed, sums[i]});
  }
  return rows;
}

void print(std::span<const Numbers> sums, int ranks) {
  std::string table = fmt::format(
      "fab: MPI's collectives under libfab_dropin, all {} ranks together (FAB_STATS=0: no table)\n"
      "{:<22} {:>11} {:>11} {:>9} {:>10}  {}\n",
      ranks, "function", "carried", "passed on", "MiB", "s in fab", "passed on because of");
  for (const Row& row : rows_of(sums)) {
    constexpr double kMiB = 1024.0 * 1024.0;
    table += fmt::format("{:<22} {:>11} {:>11} {:>9.1f} {:>10.3f}  {}\n", row.function, row.calls[0], row.passed,
                         static_cast<double>(row.numbers[kFates]) / kMiB, seconds_of(row.numbers), reasons(row.calls));
  }
  if (const Numbers& row = sums[kCompletions]; row[0] > 0)
    table += fmt::format("{:<22} {:>11} {:>32.3f}\n", "completion calls", row[0], seconds_of(row));
  std::fputs(table.c_str(), stderr);
}

std::string json_of(std::span<const Numbers> sums, int ranks) {
  using nlohmann::ordered_json;
  ordered_json functions = ordered_json::array();
  for (const Row& row : rows_of(sums)) {
    ordered_json because = ordered_json::object();
    for (std::size_t fate = 1; fate < kFates; ++fate)
      if (row.calls[fate] > 0) because[std::string(kFateNames[fate])] = row.calls[fate];
    functions.push_back({{"function", row.function},
                         {"carried", row.calls[0]},
                         {"passed_on", row.passed},
                         {"passed_on_because_of", because},
                         {"bytes", row.numbers[kFates]},
                         {"in_fab_ns", row.numbers[kFates + 1]}});
  }
  const Numbers& completions = sums[kCompletions];
  const ordered_json all{{"ranks", ranks},
                         {"functions", functions},
                         {"completion_calls", {{"calls", completions[0]}, {"in_fab_ns", completions[kFates + 1]}}}};
  return all.dump();
}

/// The context writes the file when it closes. Where this rank has opened none, no rank can tell it anything.
void write_to_file(const core::FilePart& table, int ranks) {
  if (mpi::is_open()) return mpi::process_context().add_to_file(table);
  std::vector<Rank> silent(static_cast<std::size_t>(ranks));
  std::iota(silent.begin(), silent.end(), 0);
  core::write_job_file(settings().stats_file, {}, silent, {&table, 1});
}

std::size_t bytes_of(const collectives::BlockList& blocks) noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) bytes += blocks[i].bytes();
  return bytes;
}

std::size_t bytes_of(const collectives::BlockList& send, const collectives::BlockList& recv) noexcept {
  return std::max(bytes_of(send), bytes_of(recv));
}

/// From the first call on that may leave a request, completion calls are counted as well.
bool counts_calls() noexcept {
  if (!settings().stats) return false;
  mpi::completion_observer.store(completed, std::memory_order_relaxed);
  return true;
}

}  // namespace

Count& count_of(Function function) noexcept { return counts()[index_of(function)]; }

void count(Function function, Fate fate) noexcept {
  if (counts_calls()) add_call(count_of(function), fate);
}

void count_refused(Function function, Form form) noexcept {
  if (!settings().stats) return;
  Count& count = count_of(function);
  add_call(count, Fate::refused);
  if (counts_at_once(form))
    count.calls[static_cast<std::size_t>(Fate::carried)].fetch_sub(1, std::memory_order_relaxed);
}

void count_bytes(Function function, const collectives::BlockList& send, const collectives::BlockList& recv) noexcept {
  if (settings().stats) count_of(function).bytes.fetch_add(bytes_of(send, recv), std::memory_order_relaxed);
}

void Starts::move(const collectives::BlockList& send, const collectives::BlockList& recv) noexcept {
  bytes_ = bytes_of(send, recv);
}

void Starts::started(std::chrono::nanoseconds took) noexcept {
  add_call(count_, Fate::carried);
  count_.bytes.fetch_add(bytes_, std::memory_order_relaxed);
  add_time(count_, took);
}

std::unique_ptr<Starts> observe_starts(Function function) {
  return counts_calls() ? std::make_unique<Starts>(count_of(function)) : nullptr;
}

Timed::Timed(Function function) noexcept : count_(settings().stats ? &count_of(function) : nullptr) {
  if (count_ != nullptr) begin_ = std::chrono::steady_clock::now();
}

Timed::~Timed() {
  if (count_ != nullptr) add_time(*count_, std::chrono::steady_clock::now() - begin_);
}

void report_statistics() {
  std::array<Numbers, kRows> mine{};
  std::ranges::transform(counts(), mine.begin(), numbers_of);
  std::array<Numbers, kRows> sums{};
  int rank = 0;
  int ranks = 1;
  mpi::require(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  mpi::require(PMPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  mpi::require(next_pmpi_calls.reduce(mine.data(), sums.data(), static_cast<int>(kRows * kNumbers), MPI_UINT64_T,
                                      MPI_SUM, 0, MPI_COMM_WORLD),
               "MPI_Reduce");
  if (rank != 0) return;
  print(sums, ranks);
  if (!settings().stats_file.empty()) write_to_file({"dropin", json_of(sums, ranks)}, ranks);
}

}  // namespace fab::dropin
