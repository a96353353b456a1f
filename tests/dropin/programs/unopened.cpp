// On rank 1 fab cannot open, as it finds no provider there. Persistent collectives and reductions by a function of the
// program go to MPI then, on all ranks. Other carried calls would fail on rank 1, so there are none.
#include <mpi.h>

#include <cstdlib>

#include "dropin/init_of.h"
#include "expect.h"

namespace {

void add(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 1) {
    ::setenv("FAB_LOCAL", "off", 1);
    ::setenv("FAB_PROVIDER", "nonsense", 1);
  }
  MPI_Op sum = MPI_OP_NULL;
  MPI_Op_create(add, 1, &sum);
  for (int round = 0; round < 3; ++round) {
    const int mine = rank + round;
    int total = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    expect(MPI_Allreduce(&mine, &total, 1, MPI_INT, sum, MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Allreduce's code");
    expect(total == ranks * (ranks - 1) / 2 + ranks * round, "MPI_Allreduce");
    expect(INIT_OF(Bcast)(&total, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request) == MPI_SUCCESS,
           "Bcast_init's code");
    total = rank == 0 ? round : -1;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    expect(total == round, "Bcast_init");
  }
  MPI_Op_free(&sum);
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
