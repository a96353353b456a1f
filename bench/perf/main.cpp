// fab_perf: measures what fab does on this machine, against the MPI library in the same job. Built with another MPI
// library (mpich_perf) there is no fab in it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>

#include "bindings/tools/output.h"
#include "core/base/quoted.h"
#include "perf/command.h"
#include "support/mpi_program.h"

namespace {

constexpr const char* kDescription =
    "Measures exchanges, collectives and messages of fab against those of the MPI library, in turns in one job.\n"
    "Every ratio is the other's time over fab's: above 1 fab is faster. SUBCOMMAND --help has the options of each.";

constexpr const char* kExamples =
    "Examples:\n"
    "  mpirun -n 4 fab_perf neighbor --pattern grid -m 8:1M:4    Neighbour exchanges in a grid\n"
    "  mpirun -n 8 fab_perf halo --dims 2 -m 64,256 --explain    Halos of squares; the way of their sides\n"
    "  mpirun -n 2 fab_perf overlap -c allreduce --csv rows.csv  What hides behind computation\n"
    "  mpirun -n 2 fab_perf rate --threads 4 --window 64         Messages per second of four threads\n"
    "  mpirun -n 2 fab_perf neighbor -t 4 --engines 4 -m 8       Exchanges of four threads, an engine for each";

/// CLI11 tells of an unknown subcommand, but not which there are.
void require_command(const CLI::App& app) {
  if (!app.get_subcommands().empty()) return;
  std::string valid;
  for (const perf::Command& command : perf::commands())
    valid += fmt::format("{}{}", valid.empty() ? "" : ", ", command.name);
  const std::vector<std::string> rest = app.remaining();
  throw CLI::ValidationError(
      rest.empty() ? "a subcommand is missing" : fab::in_quotes(rest.front()) + " is no subcommand",
      "valid are " + valid);
}

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  CLI::App app(kDescription, perf::program_name());
  app.set_version_flag("--version", std::string(perf::program_name()) + " " FAB_VERSION,
                       "Print the version, and nothing else");
  app.require_subcommand(0, 1);
  perf::Action chosen;
  for (const perf::Command& command : perf::commands()) {
    CLI::App* const sub = app.add_subcommand(command.name, command.summary);
    sub->callback([&chosen, action = command.add(*sub)] { chosen = action; });
  }
  app.footer(kExamples);  // not that of the subcommands, either
  app.allow_extras();     // not those of the subcommands
  app.callback([&app] { require_command(app); });
  return bench::run_mpi_program(
      app, argc, argv, [&](int rank, int ranks) { chosen.run({.rank = rank, .ranks = ranks}); },
      [&] {
        if (chosen.before_mpi) chosen.before_mpi();
        if (chosen.without_mpi) return bench::MpiUse::none;
        return chosen.has_threads && chosen.has_threads() ? bench::MpiUse::by_threads : bench::MpiUse::by_one_thread;
      });
}
