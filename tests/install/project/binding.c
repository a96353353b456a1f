/* Each rank of a ring tells both neighbors who it is. */
#include <fab/mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_rank(ring, &rank);

  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  const int mine[2] = {rank, rank};
  int theirs[2] = {-1, -1};
  MPI_Neighbor_xchg(mine, 1, MPI_INT, theirs, 1, MPI_INT, ring);
  printf("rank %d of %d: %d %d\n", rank, size, theirs[0], theirs[1]);

  MPI_Comm_free(&ring);
  MPI_Finalize();
  return theirs[0] == next && theirs[1] == previous ? 0 : 1;
}
