// Checks that a communicator is one that fab's calls accept.
#pragma once

#include <mpi.h>

namespace fab::mpi {

/// Throws Failure(MPI_ERR_COMM) for what is no handle of a communicator.
void require_communicator(MPI_Comm comm);

/// Throws Failure(MPI_ERR_COMM) for what is no handle of a communicator, and for inter-communicators.
void check_communicator(MPI_Comm comm);

}  // namespace fab::mpi
