// The layout of MPI_Type_create_darray: one process's part of an array that is distributed over a grid of processes.
#pragma once

#include <vector>

#include "fab/layout.h"

namespace fab::mpi {

/// From the constructor's integers (MPI-4.1, 5.1.4), but for lower bound and extent.
[[nodiscard]] Layout distributed_array(const std::vector<int>& integers, const Layout& element);

}  // namespace fab::mpi
