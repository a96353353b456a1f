// Measures persistent neighbour exchanges on a random sparse graph, directly and by nodes (FAB_ALGO_NEIGHBOR), in turns
// in one job: a context of each kind. A native program.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "bindings/tools/command_line.h"
#include "bindings/tools/output.h"
#include "fab/fab.h"
#include "support/statistics.h"

namespace {

struct Options {
  int edges = 4;
  std::vector<std::size_t> bytes{8, 128, 1024, 8192};
  int batches = 15;
  int exchanges = 200;
  unsigned seed = 1;
};

/// The part of this rank: every rank sends to `edges` others.
fab::Communicator random_graph(const fab::Communicator& world, const Options& options) {
  std::mt19937 random(options.seed);
  std::vector<int> others(static_cast<std::size_t>(world.size()));
  std::vector<int> sources;
  std::vector<int> destinations;
  for (int rank = 0; rank < world.size(); ++rank) {
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = static_cast<int>(i);
    std::erase(others, rank);
    std::ranges::shuffle(others, random);
    const auto count = std::min(others.size(), static_cast<std::size_t>(options.edges));
    const std::span chosen(others.data(), count);
    if (rank == world.rank()) destinations.assign(chosen.begin(), chosen.end());
    if (std::ranges::find(chosen, world.rank()) != chosen.end()) sources.push_back(rank);
    others.resize(static_cast<std::size_t>(world.size()));
  }
  return world.distributed_graph(sources, destinations);
}

/// One way of one exchange.
class Subject {
 public:
  Subject(const fab::Communicator& graph, std::size_t bytes, bool gathers) {
    const fab::Neighborhood& edges = graph.neighborhood();
    const fab::Layout block = fab::Layout::contiguous(bytes);
    send_.resize(bytes * (gathers ? 1 : edges.destinations.size()));
    recv_.resize(bytes * edges.sources.size());
    exchange_ = gathers ? fab::neighbor_allgather.persistent(graph, send_.data(), recv_.data(), block)
                        : fab::neighbor_alltoall.persistent(graph, send_.data(), recv_.data(), block);
  }
  /// Microseconds of one exchange.
  double run(const fab::Communicator& world, int exchanges) {
    fab::barrier(world);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < exchanges; ++i) {
      exchange_.start();
      exchange_.wait();
    }
    fab::barrier(world);
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / exchanges;
  }

 private:
  std::vector<std::byte> send_;
  std::vector<std::byte> recv_;
  fab::PersistentExchange exchange_;
};

fab::Context open_with(const char* paths) {
  if (setenv("FAB_ALGO_NEIGHBOR", paths, 1) != 0) throw std::runtime_error("setenv failed");
  return fab::Context::open();
}

void measure(const Options& options) {
  const fab::Context contexts[] = {open_with("direct"), open_with("by_node"), open_with("auto")};
  std::vector<fab::Communicator> graphs;
  for (const fab::Context& context : contexts) graphs.push_back(random_graph(context.world(), options));
  const bool tells = contexts[0].rank() == 0;
  if (tells) fmt::print("{:<10} {:>8} {:>24} {:>24} {:>24}\n", "call", "bytes", "direct us", "by node us", "auto us");
  for (const bool gathers : {false, true})
    for (const std::size_t bytes : options.bytes) {
      std::vector<Subject> subjects;
      for (const fab::Communicator& graph : graphs) subjects.emplace_back(graph, bytes, gathers);
      std::vector<std::vector<double>> times(subjects.size());
      for (int batch = 0; batch <= options.batches; ++batch)
        for (std::size_t i = 0; i < subjects.size(); ++i) {
          const double time = subjects[i].run(contexts[i].world(), options.exchanges);
          if (batch > 0) times[i].push_back(time);  // the first warms up
        }
      if (!tells) continue;
      std::string row = fmt::format("{:<10} {:>8}", gathers ? "allgather" : "alltoall", bytes);
      for (const std::vector<double>& its : times) {
        const bench::Spread spread = bench::spread_of(its);
        row += fmt::format(" {:>24}", fmt::format("{:.1f} ({:.1f}-{:.1f})", spread.median, spread.lower, spread.upper));
      }
      fmt::print("{}\n", row);
    }
}

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  Options options;
  CLI::App app("Measures persistent neighbour exchanges on a random graph, directly and by nodes.", "fab_node_paths");
  app.add_option("--edges", options.edges, "Destinations of each rank")->check(CLI::PositiveNumber);
  app.add_option("-b,--bytes", options.bytes, "Bytes of each block")->delimiter(',');
  app.add_option("--batches", options.batches, "Batches of each kind, in turns")->check(CLI::PositiveNumber);
  app.add_option("--exchanges", options.exchanges, "Exchanges in a batch")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Of the graph");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return fab::tools::end_parsing(app, error);
  }
  try {
    measure(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fab_node_paths: {}\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
