// Completes requests by all of MPI's functions in turn.
#pragma once

#include <mpi.h>

namespace fab::test {

/// How many ways there are.
inline constexpr int kWaysToFinish = 9;

/// Completes an active request by the way of that number, beside an inactive one and one of MPI's own.
void finish(MPI_Request& request, int way);

}  // namespace fab::test
