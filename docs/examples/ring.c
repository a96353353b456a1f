#include <fab/mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, periodic = 1;
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_rank(ring, &rank);

  int mine[2] = {rank, rank}; /* block 0 goes to rank + 1, block 1 to rank - 1 */
  int theirs[2];              /* block 0 comes from rank + 1, block 1 from rank - 1 */
  MPI_Request request;
  MPI_Ineighbor_xchg(mine, 1, MPI_INT, theirs, 1, MPI_INT, ring, &request);
  /* ... compute ... */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank %d: right %d, left %d\n", rank, theirs[0], theirs[1]);

  MPI_Comm_free(&ring);
  MPI_Finalize();
}
