#include "bindings/tools/mpi_of_program.h"

#include <string_view>

#include "bindings/tools/linkage.h"

namespace fab::tools {

namespace {

std::optional<Mpi> mpi_of_library(std::string_view name) {
  if (!name.starts_with("libmpi")) return std::nullopt;
  if (name.starts_with("libmpich") || name.ends_with(".so.12")) return Mpi::mpich;
  if (name.starts_with("libmpi.so") || name.starts_with("libmpi_")) return Mpi::open_mpi;
  return std::nullopt;
}

}  // namespace

std::optional<Mpi> mpi_among(std::span<const std::string> libraries) {
  for (const std::string& name : libraries)
    if (const auto mpi = mpi_of_library(name)) return mpi;
  return std::nullopt;
}

std::optional<Mpi> mpi_of_launcher(const Variable& variable) {
  if (variable("OMPI_COMM_WORLD_RANK") != nullptr) return Mpi::open_mpi;
  if (variable("MPI_LOCALNRANKS") != nullptr) return Mpi::mpich;
  return std::nullopt;
}

std::optional<Mpi> mpi_of_program(const std::filesystem::path& program, const Variable& variable) {
  const auto mpi = mpi_among(needed_libraries(program));
  return mpi ? mpi : mpi_of_launcher(variable);
}

}  // namespace fab::tools
