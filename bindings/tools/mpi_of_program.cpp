#include "bindings/tools/mpi_of_program.h"

#include <string_view>

#include "bindings/tools/linkage.h"

namespace fab::tools {

std::optional<Mpi> mpi_among(std::span<const std::string> libraries) {
  for (const std::string_view name : libraries) {
    if (!name.starts_with("libmpi")) continue;
    return name.starts_with("libmpich") || name.ends_with(".so.12") ? Mpi::mpich : Mpi::open_mpi;
  }
  return std::nullopt;
}

std::optional<Mpi> mpi_of_launcher(const Variable& variable) {
  if (variable("OMPI_COMM_WORLD_RANK") != nullptr) return Mpi::open_mpi;
  if (variable("PMI_RANK") != nullptr) return Mpi::mpich;
  return std::nullopt;
}

Mpi mpi_of_program(const std::filesystem::path& program, const Variable& variable) {
  if (const auto mpi = mpi_among(needed_libraries(program))) return *mpi;
  return mpi_of_launcher(variable).value_or(Mpi::open_mpi);
}

}  // namespace fab::tools
