// Checks that a communicator is one that fab's calls accept.
#pragma once

#include <mpi.h>

namespace fab::mpi {

/// Throws Failure(MPI_ERR_COMM) for MPI_COMM_NULL and inter-communicators.
void check_communicator(MPI_Comm comm);

}  // namespace fab::mpi
