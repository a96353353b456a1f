// Requests that Fortran functions may write into.
//
// The Fortran functions of Open MPI 5 take what a non-blocking or persistent collective returns for a request of MPI's
// own collectives: they write the addresses of arrays into it, which these free when they end. A request of another
// kind is shorter, and what lies behind it is lost.
#pragma once

#include <mpi.h>

namespace fab::mpi {

/// Makes a persistent request that is never started, with that room, unless MPI is linked statically. Returns MPI's
/// code.
[[nodiscard]] int make_inactive_request(MPI_Request* request);

/// Generalized requests that are made from now on have that room.
void enlarge_generalized_requests();

}  // namespace fab::mpi
