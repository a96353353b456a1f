// fab's performance variables for tools of MPI's (MPI_T): figures of the statistics of this rank.
#pragma once

#include <cstdint>
#include <span>

namespace fab::mpi {

/// A number of 64 bits that only grows, or the largest of some times; it is 0 while fab is not open. Times are in
/// nanoseconds, as their names say.
struct PerformanceVariable {
  const char* name;
  const char* description;
  bool largest;  ///< not a sum
  std::uint64_t (*read)();
};

/// In the order of their numbers.
[[nodiscard]] std::span<const PerformanceVariable> performance_variables() noexcept;

}  // namespace fab::mpi
