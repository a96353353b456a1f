// fab_perf first: what the first exchange of a process costs, opening included: by the binding (MPI_Neighbor_xchg,
// which opens fab), by a native context, or by MPI's own neighbour collective. One of them in a process, as it can be
// first but once: run it again for the next sample. All of it comes after MPI_Init, so what the launcher takes
// (PMIx_Init) is not in it.
#include <fab/mpi.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "apps/mpi_call.h"
#include "fab/fab.h"
#include "perf/command.h"
#include "support/exchange_options.h"
#include "support/mpi_program.h"
#include "support/rows.h"
#include "support/table.h"

namespace perf {
namespace {

using apps::check_mpi;

struct FirstOptions {
  std::string library = "fab";
  bench::RowFiles files;
};

/// Microseconds of each step, of the rank that takes longest.
struct Steps {
  double open_us = 0;
  double grid_us = 0;
  double first_us = 0;
  double second_us = 0;
};

/// A word for each neighbour in a ring.
struct Words {
  explicit Words(int rank) : out{2 * rank, 2 * rank + 1} {}

  std::array<int, 2> out;
  std::array<int, 2> in{-1, -1};
};

double time_us(const std::function<void()>& step) {
  const auto begin = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

/// Neighbours are the next rank and the one before; in MPI's collectives it is the other way round. With two ranks
/// those may pair the words of the one neighbour differently.
void check(const Words& words, const FirstOptions& options, int rank, int ranks) {
  const int before = (rank + ranks - 1) % ranks;
  const int next = (rank + 1) % ranks;
  const bool by_mpi = options.library == "MPI";
  if (by_mpi && ranks < 3) return;
  const std::array<int, 2> expected =
      by_mpi ? std::array<int, 2>{2 * before + 1, 2 * next} : std::array<int, 2>{2 * next + 1, 2 * before};
  if (words.in != expected)
    throw std::runtime_error(
        fmt::format("received {} and {} instead of {} and {}", words.in[0], words.in[1], expected[0], expected[1]));
}

using Call = int (*)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);

Steps run_mpi_call(Call call, const char* name, Words& words, int ranks) {
  Steps steps;
  const int periodic = 1;
  MPI_Comm grid = MPI_COMM_NULL;
  steps.grid_us =
      time_us([&] { check_mpi(MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &grid), "MPI_Cart_create"); });
  const auto exchange = [&] { check_mpi(call(words.out.data(), 1, MPI_INT, words.in.data(), 1, MPI_INT, grid), name); };
  steps.first_us = time_us(exchange);
  steps.second_us = time_us(exchange);
  check_mpi(MPI_Comm_free(&grid), "MPI_Comm_free");
  return steps;
}

Steps run_native(Words& words, int ranks) {
  Steps steps;
  std::unique_ptr<fab::Context> context;
  std::optional<fab::Communicator> grid;
  steps.open_us = time_us([&] { context = std::make_unique<fab::Context>(fab::Context::open()); });
  steps.grid_us = time_us([&] { grid = context->world().cartesian({ranks}, {true}); });
  const auto exchange = [&] { fab::neighbor_xchg(*grid, words.out, words.in); };
  steps.first_us = time_us(exchange);
  steps.second_us = time_us(exchange);
  return steps;
}

Steps slowest(const Steps& mine) {
  const std::array<double, 4> out{mine.open_us, mine.grid_us, mine.first_us, mine.second_us};
  std::array<double, 4> most{};
  check_mpi(MPI_Allreduce(out.data(), most.data(), 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return {most[0], most[1], most[2], most[3]};
}

Steps run(const FirstOptions& options, int rank, int ranks) {
  Words words(rank);
  Steps steps;
  if (options.library == "native")
    steps = run_native(words, ranks);
  else if (options.library == "fab")
    steps = run_mpi_call(MPI_Neighbor_xchg, "MPI_Neighbor_xchg", words, ranks);
  else
    steps = run_mpi_call(MPI_Neighbor_alltoall, "MPI_Neighbor_alltoall", words, ranks);
  check(words, options, rank, ranks);
  return slowest(steps);
}

void report(const FirstOptions& options, int ranks, const Steps& steps) {
  fmt::print("# {}, {} ranks; times of the rank that takes longest\n", bench::mpi_library(), ranks);
  const bench::Table table({"library", "open us", "grid us", "first us", "second us"});
  table.print({options.library, bench::number(steps.open_us), bench::number(steps.grid_us),
               bench::number(steps.first_us), bench::number(steps.second_us)});
  bench::Rows rows(options.files, true);
  rows.add({{"bench", "first"},
            {"library", options.library},
            {"ranks", ranks},
            {"mpi", bench::mpi_library()},
            {"open_us", steps.open_us},
            {"grid_us", steps.grid_us},
            {"first_us", steps.first_us},
            {"second_us", steps.second_us}});
  rows.write();
}

}  // namespace

Action add_first(CLI::App& app) {
  const auto options = std::make_shared<FirstOptions>();
  app.add_option("--library", options->library,
                 "fab: MPI_Neighbor_xchg; native: a context of fab's; MPI: MPI_Neighbor_alltoall")
      ->check(CLI::IsMember({"fab", "native", "MPI"}))
      ->capture_default_str();
  bench::add_file_options(app, options->files);
  return {.run = [options](const Job& job) {
    const Steps steps = run(*options, job.rank, job.ranks);
    if (job.rank == 0) report(*options, job.ranks, steps);
  }};
}

}  // namespace perf
