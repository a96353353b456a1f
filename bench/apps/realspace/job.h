// The whole job: from a molecule's file to the energies and the pictures.
#ifndef BENCH_APPS_REALSPACE_JOB_H
#define BENCH_APPS_REALSPACE_JOB_H

#include "realspace/options.h"

namespace realspace {

// Returns whether the run converged and, where asked for, its energy is the expected one. A serial run makes no call to
// MPI; any other is collective over MPI_COMM_WORLD, whose error handler must return errors. Every rank returns, or
// throws InputError for input that cannot be used, alike; any other exception may be this rank's alone.
bool run(const Options& options);

}  // namespace realspace

#endif
