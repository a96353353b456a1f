#include "support/mpi_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "apps/mpi_call.h"
#include "bindings/tools/command_line.h"

namespace bench {

using apps::check_mpi;

namespace {

// By what launchers set, as MPI is not asked yet. A process without a launcher is the first one.
bool is_first_rank() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* const rank = std::getenv(variable); rank != nullptr) return std::string_view(rank) == "0";
  }
  return true;
}

// The error, or what is asked for instead of a run.
std::optional<CLI::ParseError> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error;
  }
  return std::nullopt;
}

void start_mpi(bool has_threads) {
  const int wanted = has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, wanted, &provided), "MPI_Init_thread");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  if (provided < wanted) throw std::runtime_error("several threads: the MPI library has no MPI_THREAD_MULTIPLE");
}

int run_without_mpi(const CLI::App& app, const std::function<void(int rank, int ranks)>& body) {
  try {
    body(0, 1);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace

int run_mpi_program(CLI::App& app, int argc, char** argv, const std::function<void(int rank, int ranks)>& body,
                    const std::function<MpiUse()>& use) {
  const std::optional<CLI::ParseError> wrong = parse(app, argc, argv);
  if (wrong && wrong->get_exit_code() == EXIT_SUCCESS)
    return is_first_rank() ? fab::tools::end_parsing(app, *wrong) : EXIT_SUCCESS;
  const MpiUse wanted = wrong ? MpiUse::by_one_thread : use();
  if (wanted == MpiUse::none) return run_without_mpi(app, body);
  int exit_status = EXIT_SUCCESS;
  int rank = 0;
  int ranks = 0;
  try {
    start_mpi(wanted == MpiUse::by_threads);
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
    if (wrong)  // a launcher would end the others before the first one has spoken, so all end together
      exit_status = rank == 0 ? fab::tools::end_parsing(app, *wrong) : wrong->get_exit_code();
    else
      body(rank, ranks);
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
