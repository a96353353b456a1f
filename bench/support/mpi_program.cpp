#include "support/mpi_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <string>

#include "apps/mpi_call.h"
#include "bindings/tools/command_line.h"

namespace bench {

using apps::check_mpi;

int run_mpi_program(CLI::App& app, int argc, char** argv, const std::function<void(int rank, int ranks)>& body) {
  int exit_status = EXIT_SUCCESS;
  int rank = 0;
  int ranks = 0;
  try {
    check_mpi(MPI_Init(&argc, &argv), "MPI_Init");
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
    app.parse(argc, argv);
    body(rank, ranks);
  } catch (const CLI::ParseError& error) {
    exit_status = rank == 0 ? fab::tools::end_parsing(app, error) : error.get_exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: rank {}: {}\n", app.get_name(), rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  return MPI_Finalize() == MPI_SUCCESS ? exit_status : EXIT_FAILURE;
}

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  std::string name(text.data());
  name.resize(std::min(name.find_first_of(",\n"), name.size()));
  if (const auto word = name.find(" Version:"); word != std::string::npos) {  // MPICH's way to say it
    const auto number = name.find_first_not_of(" \t", name.find(':') + 1);
    name = fmt::format("{} {}", name.substr(0, word), name.substr(std::min(number, name.size())));
  }
  for (const char* variable : {"OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl", "MPIR_CVAR_NOLOCAL", "UCX_TLS"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr) name += fmt::format(", {}={}", variable, value);
  }
  return name;
}

}  // namespace bench
