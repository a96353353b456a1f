// The whole job: from a molecule's file to the energy and the picture.
#ifndef BENCH_APPS_REALSPACE_JOB_H
#define BENCH_APPS_REALSPACE_JOB_H

#include "realspace/options.h"

namespace realspace {

// Both return whether the run converged and, where asked for, its energy is the expected one. Throw InputError for
// input that cannot be used.

// Makes no call to MPI.
bool run_serial(const Options& options);

// Collective over MPI_COMM_WORLD, whose error handler must return errors. Every rank returns, or throws InputError,
// alike; any other exception may be this rank's alone.
bool run_parallel(const Options& options);

}  // namespace realspace

#endif
