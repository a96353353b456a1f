// Converts return codes of MPI to exceptions.
#ifndef BENCH_APPS_MPI_CALL_H
#define BENCH_APPS_MPI_CALL_H

#include <mpi.h>

namespace apps {

// Throws std::runtime_error with the name of the call and MPI's text for `rc` unless `rc` is MPI_SUCCESS.
void check_mpi(int rc, const char* call);

}  // namespace apps

#endif
