// Lowest states of one particle in a molecule's potential, on a real-space grid shared among the ranks: the example
// that motivates "Topological Collectives for MPI-2" (Hoefler, Lorenzen, Gregor, Lumsdaine, 2008; introduction, figure
// 1).
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "bindings/tools/command_line.h"
#include "bindings/tools/output.h"
#include "mpi_call.h"
#include "realspace/input_error.h"
#include "realspace/job.h"

namespace realspace {
namespace {

using apps::check_mpi;

// Runs `work` between MPI_Init and MPI_Finalize. An InputError is the same on all ranks: one reports it and all end in
// order. Anything else may have happened on this rank alone: the others are torn down.
template <class Work>
int with_mpi(Work work) {
  int exit_code = EXIT_FAILURE;
  int rank = 0;
  try {
    check_mpi(MPI_Init(nullptr, nullptr), "MPI_Init");
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    exit_code = work(rank);
  } catch (const InputError& error) {
    if (rank == 0) fmt::print(stderr, "realspace: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "realspace: rank {}: {}\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  return MPI_Finalize() == MPI_SUCCESS ? exit_code : EXIT_FAILURE;
}

template <class Work>
int without_mpi(Work work) {
  try {
    return work() ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    fmt::print(stderr, "realspace: {}\n", error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace
}  // namespace realspace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  realspace::Options options;
  CLI::App app("Finds the lowest states of one particle in the softened Coulomb potential of a molecule's nuclei.");
  realspace::add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return realspace::with_mpi(
        [&](int rank) { return rank == 0 ? fab::tools::end_parsing(app, error) : error.get_exit_code(); });
  }
  if (options.serial) return realspace::without_mpi([&] { return realspace::run(options); });
  return realspace::with_mpi([&](int) { return realspace::run(options) ? EXIT_SUCCESS : EXIT_FAILURE; });
}
