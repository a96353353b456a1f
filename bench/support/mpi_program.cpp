#include "support/mpi_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <string>

#include "apps/mpi_call.h"

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
    exit_status = rank == 0 ? app.exit(error) : error.get_exit_code();
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
  for (const char* layer : {"pml", "btl", "mtl"}) {
    const char* choice = std::getenv(fmt::format("OMPI_MCA_{}", layer).c_str());
    if (choice != nullptr) name += fmt::format(", {} {}", layer, choice);
  }
  return name;
}

}  // namespace bench
