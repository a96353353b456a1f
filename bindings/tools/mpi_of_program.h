// Finds the MPI that a program uses, before it runs.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace fab::tools {

enum class Mpi { open_mpi, mpich };

/// The value of an environment variable, or null.
using Variable = std::function<const char*(const char* name)>;

/// By names of libraries that a program asks for. "libmpi.so.12" is the name that MPICH and its kin have agreed on.
/// Libraries of tools, such as libmpiP, tell nothing.
[[nodiscard]] std::optional<Mpi> mpi_among(std::span<const std::string> libraries);
/// By what launchers set. Slurm sets variables of MPICH's launcher for any MPI, but not the one that is asked for here.
[[nodiscard]] std::optional<Mpi> mpi_of_launcher(const Variable& variable);
/// By its file, or else by its launcher: scripts load MPI later, and programs by way of other libraries.
[[nodiscard]] std::optional<Mpi> mpi_of_program(const std::filesystem::path& program, const Variable& variable);

}  // namespace fab::tools
