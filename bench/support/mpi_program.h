// The frame of a benchmark that is an MPI program.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace bench {

enum class MpiUse { none, by_one_thread, by_threads };

/// Reads the options, starts MPI, runs `body` and ends MPI; any exception ends the whole job. Rank 0 alone tells of bad
/// options, and prints help, for which MPI is not started. `body` has the ranks of MPI_COMM_WORLD, whose error handler
/// returns. `use` says, once the options are read, whether several threads call MPI, or whether `body` is to run
/// without it, as rank 0 of 1. Returns the exit status.
int run_mpi_program(
    CLI::App& app, int argc, char** argv, const std::function<void(int rank, int ranks)>& body,
    const std::function<MpiUse()>& use = [] { return MpiUse::by_one_thread; });

/// The MPI library's name and the transports that it was told to take: "Open MPI v4.1.4, OMPI_MCA_btl=tcp,self".
[[nodiscard]] std::string mpi_library();

}  // namespace bench
