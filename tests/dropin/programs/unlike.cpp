// unlike LIBRARY: rank 1 alone loads a library whose calls of MPI reach MPI past fab. fab must not carry there what it
// would need these calls for, on no rank: the others would wait in fab for a rank that is in MPI.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
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
  if (rank == 1 && (argc != 2 || ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) == nullptr)) {
    std::fprintf(stderr, "cannot load the library: %s\n", argc == 2 ? ::dlerror() : "no argument");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Op sum = MPI_OP_NULL;
  MPI_Op_create(add, 1, &sum);
  for (int round = 0; round < 3; ++round) {
    const int mine = rank + round;
    const int expected = ranks * (ranks - 1) / 2 + ranks * round;
    MPI_Request request = MPI_REQUEST_NULL;
    int total = -1;
    MPI_Iallreduce(&mine, &total, 1, MPI_INT, sum, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(total == expected, "MPI_Iallreduce");
    MPI_Allreduce(&mine, &total, 1, MPI_INT, sum, MPI_COMM_WORLD);
    expect(total == expected, "MPI_Allreduce");
    INIT_OF(Bcast)(&total, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    total = rank == 0 ? round : -1;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    expect(total == round, "Bcast_init");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Op_free(&sum);
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
