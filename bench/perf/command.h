// The subcommands of fab_perf.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>

namespace perf {

/// This process in MPI_COMM_WORLD.
struct Job {
  int rank = 0;
  int ranks = 1;
};

/// What a subcommand does once its options are read.
struct Action {
  std::function<void(const Job&)> run;
  std::function<bool()> has_threads{};  ///< several threads call MPI; none: one
  std::function<void()> before_mpi{};   ///< called ahead of MPI_Init
  bool without_mpi = false;             ///< MPI is not started, and `run` gets a job of one rank
};

struct Command {
  const char* name;
  const char* summary;
  Action (*add)(CLI::App& app);  ///< adds the options
};

/// The program's name and its subcommands: all of them, or those that need no fab.
[[nodiscard]] const char* program_name();
[[nodiscard]] std::span<const Command> commands();

[[nodiscard]] Action add_neighbor(CLI::App& app);
[[nodiscard]] Action add_collective(CLI::App& app);
[[nodiscard]] Action add_overlap(CLI::App& app);
[[nodiscard]] Action add_halo(CLI::App& app);
[[nodiscard]] Action add_start(CLI::App& app);
[[nodiscard]] Action add_rate(CLI::App& app);
[[nodiscard]] Action add_p2p(CLI::App& app);
[[nodiscard]] Action add_discover(CLI::App& app);
[[nodiscard]] Action add_first(CLI::App& app);
[[nodiscard]] Action add_footprint(CLI::App& app);
[[nodiscard]] Action add_reduce(CLI::App& app);
[[nodiscard]] Action add_limits(CLI::App& app);

}  // namespace perf
