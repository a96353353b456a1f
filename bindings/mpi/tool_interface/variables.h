// fab's performance variables for tools of MPI's (MPI_T): figures of the statistics of this rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/statistics/figures.h"

namespace fab::mpi {

/// A number of 64 bits that only grows, or the largest of some times. Times are in nanoseconds, as their names say.
struct PerformanceVariable {
  std::string name;
  const core::Figure* figure;

  /// 0 while fab is not open.
  [[nodiscard]] std::uint64_t read() const;
};

/// In the order of their numbers.
[[nodiscard]] std::span<const PerformanceVariable> performance_variables() noexcept;

}  // namespace fab::mpi
