// fab_perf discover: how long ranks take to find out who will send to them, by each of fab's algorithms and in the ways
// in which programs do it with MPI, in turns inside one job.
#include "collectives/discover/discover.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "fab/fab.h"
#include "perf/command.h"
#include "perf/size_progress.h"
#include "support/contest.h"
#include "support/exchange_options.h"
#include "support/fab_transport.h"
#include "support/filling.h"
#include "support/mpi_discoveries.h"
#include "support/mpi_program.h"
#include "support/table.h"

namespace perf {
namespace {

using bench::DiscoveryInput;
using bench::DiscoveryOutput;
using bench::DiscoveryWay;
using bench::Result;

struct DiscoverOptions : bench::RunOptions {
  int destinations = 2;
};

/// Destination i of a rank is 2^i - 1 ranks behind its next one, so that pairs are near and far.
std::vector<int> destinations_of(int rank, int ranks, int count) {
  std::vector<int> all;
  for (std::int64_t i = 0, distance = 1; i < count && i + 1 < ranks; ++i) {
    const auto is_taken = [&] { return std::ranges::find(all, (rank + distance) % ranks) != all.end(); };
    while (distance % ranks == 0 || is_taken()) ++distance;
    all.push_back(static_cast<int>((rank + distance) % ranks));
    distance *= 2;
  }
  return all;
}

std::byte byte_of(int from, int to, std::size_t place) {
  return bench::byte_at(from, static_cast<std::size_t>(to) * 4099 + place);
}

void put_block(std::vector<std::byte>& blocks, int from, int to, std::size_t bytes) {
  for (std::size_t place = 0; place < bytes; ++place) blocks.push_back(byte_of(from, to, place));
}

/// A context for each algorithm, as FAB_ALGO_DISCOVER is read when one is opened.
DiscoveryWay fab_way(const char* algorithm) {
  if (setenv("FAB_ALGO_DISCOVER", algorithm, 1) != 0) throw std::runtime_error("setenv failed");
  const auto context = std::make_shared<fab::Context>(fab::Context::open());
  return {.name = std::string("fab ") + algorithm,
          .call = std::string("fab::discover, FAB_ALGO_DISCOVER=") + algorithm,
          .discover = [context](const DiscoveryInput& input) {
            auto found = fab::discover(context->world(), input.destinations, std::span(input.blocks), input.bytes);
            return DiscoveryOutput{std::move(found.sources), std::move(found.blocks)};
          }};
}

class Discoveries {
 public:
  Discoveries(const DiscoverOptions& options, const Job& job)
      : options_(options), job_(job), rows_(options.files, job.rank == 0) {
    ways_.push_back(fab_way("auto"));
    for (const fab::collectives::DiscoverRow& row : fab::collectives::discover_algorithms())
      ways_.push_back(fab_way(row.name));
    if (options.against == bench::Against::mpi)
      for (DiscoveryWay& way : bench::mpi_discoveries()) ways_.push_back(std::move(way));
  }

  void run() {
    for_each_size(
        "discover", job_, bench::sizes(options_), [this](std::size_t bytes) { return time(bytes); },
        [this](std::size_t bytes, const std::vector<Result>& results) { show(bytes, results); });
    rows_.write();
  }

 private:
  std::vector<Result> time(std::size_t bytes) {
    const DiscoveryInput input = input_of(bytes);
    std::vector<bench::Contestant> all;
    for (const DiscoveryWay& way : ways_)
      all.push_back({.library = way.name, .call = way.call, .calls = bench::repeat([&way, &input] {
                                                              static_cast<void>(way.discover(input));
                                                            })});
    return bench::contest(all, options_, [&](const bench::Contestant& one) {
      const auto way = std::ranges::find(ways_, one.library, &DiscoveryWay::name);
      check(way->discover(input), bytes, one.call);
      return true;
    });
  }

  [[nodiscard]] DiscoveryInput input_of(std::size_t bytes) const {
    DiscoveryInput input{.destinations = destinations_of(job_.rank, job_.ranks, options_.destinations), .bytes = bytes};
    for (const int to : input.destinations) put_block(input.blocks, job_.rank, to, bytes);
    return input;
  }

  void check(const DiscoveryOutput& found, std::size_t bytes, const std::string& what) const {
    std::set<int> expected;
    for (int from = 0; from < job_.ranks; ++from) {
      const std::vector<int> its = destinations_of(from, job_.ranks, options_.destinations);
      if (std::ranges::find(its, job_.rank) != its.end()) expected.insert(from);
    }
    std::vector<std::byte> blocks;
    for (const int from : found.sources) put_block(blocks, from, job_.rank, bytes);
    if (std::set<int>(found.sources.begin(), found.sources.end()) != expected ||
        found.sources.size() != expected.size() || found.blocks != blocks)
      throw std::runtime_error(
          fmt::format("{}, {} bytes: rank {} found the wrong sources or blocks", what, bytes, job_.rank));
  }

  void show(std::size_t bytes, const std::vector<Result>& results) {
    if (!table_) start_table(results);
    std::vector<std::string> cells = {std::to_string(bytes)};
    for (const Result& result : results) {
      cells.push_back(bench::number(bench::median_us(result)));
      for (const std::string& cell : bench::percentile_cells(options_.plan, &result)) cells.push_back(cell);
    }
    if (const Result* const fastest = fastest_of_mpi(results))
      cells.push_back(bench::ratio_text(bench::lead(results.front(), *fastest)));
    table_->print(cells);
    for (const Result& result : results) rows_.add(row(bytes, result));
  }

  [[nodiscard]] static const Result* fastest_of_mpi(const std::vector<Result>& results) {
    const Result* fastest = nullptr;
    for (const Result& result : results) {
      if (!result.library.starts_with("MPI")) continue;
      if (fastest == nullptr || bench::median_us(result) < bench::median_us(*fastest)) fastest = &result;
    }
    return fastest;
  }

  void start_table(const std::vector<Result>& results) {
    const bench::FabPath path = transport_.path();
    fmt::print("\n# {} discover: {} ranks on {} node(s), {} destinations each; fab: {}; MPI: {}\n", program_name(),
               job_.ranks, path.nodes, input_of(0).destinations.size(), path.name, bench::mpi_library());
    for (const Result& result : results) fmt::print("# {}: {}\n", result.library, result.call);
    fmt::print("# bytes for each destination; us per call: mean over ranks, median of {} batches in turns\n",
               options_.plan.batches);
    std::vector<std::string> titles = {"bytes"};
    for (const Result& result : results) {
      titles.push_back(result.library + " us");
      for (const std::string& title : bench::percentile_titles(options_.plan, result.library)) titles.push_back(title);
    }
    if (fastest_of_mpi(results) != nullptr) {
      fmt::print(
          "# MPI/fab: the fastest MPI's time over that of fab auto, ratios of neighbouring batches: median "
          "(quartiles)\n");
      titles.emplace_back("             MPI/fab");
    }
    table_.emplace(titles);
  }

  [[nodiscard]] bench::Row row(std::size_t bytes, const Result& result) const {
    bench::Row row = bench::common_fields("discover", options_, job_.ranks, transport_.path());
    row["destinations"] = input_of(0).destinations.size();
    row["bytes"] = bytes;
    bench::add_result(row, result);
    return row;
  }

  const DiscoverOptions& options_;
  Job job_;
  bench::FabTransport transport_;
  std::vector<DiscoveryWay> ways_;
  std::optional<bench::Table> table_;
  bench::Rows rows_;
};

}  // namespace

Action add_discover(CLI::App& app) {
  const auto options = std::make_shared<DiscoverOptions>();
  options->sizes = "8";
  bench::add_run_options(app, *options, "Bytes for each destination: a range FIRST:LAST[:FACTOR] or a list");
  bench::add_contest_options(app, *options);
  app.add_option("-d,--destinations", options->destinations, "Destinations of each rank; at most all other ranks")
      ->check(bench::in_range(0, 1 << 20))
      ->capture_default_str();
  return {.run = [options](const Job& job) { Discoveries(*options, job).run(); }};
}

}  // namespace perf
