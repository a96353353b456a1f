// The frame of a benchmark that is an MPI program.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace bench {

/// Starts MPI, reads the options (rank 0 alone talks about them), runs `body` and ends MPI; any exception ends the
/// whole job. `body` has the ranks of MPI_COMM_WORLD, whose error handler returns. Returns the exit status.
int run_mpi_program(CLI::App& app, int argc, char** argv, const std::function<void(int rank, int ranks)>& body);

/// The MPI library's name and the transports that it was told to take: "Open MPI v4.1.4, OMPI_MCA_btl=tcp,self".
[[nodiscard]] std::string mpi_library();

}  // namespace bench
