/* MPI_Neighbor_alltoall, the same call merely renamed, and the port: on a line of ranks that is not periodic. */
#include <fab/mpi.h>
#include <stdio.h>

/* For each block of fab's, the slot that it has in MPI's order. Returns the number of blocks. */
static int mpi_slots(MPI_Comm grid, int slots[]) {
  int dimensions, blocks = 0;
  MPI_Cartdim_get(grid, &dimensions);
  for (int d = 0; d < dimensions; ++d) {
    int minus, plus;
    MPI_Cart_shift(grid, d, 1, &minus, &plus);
    if (plus != MPI_PROC_NULL) slots[blocks++] = 2 * d + 1; /* fab: +1 first, and nothing for MPI_PROC_NULL */
    if (minus != MPI_PROC_NULL) slots[blocks++] = 2 * d;
  }
  return blocks;
}

int main(int argc, char** argv) {
  int rank, size, periodic = 0;
  MPI_Comm line;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
  MPI_Comm_rank(line, &rank);

  /* MPI's slots: 0 is the left neighbour, 1 the right one; slots beyond the ends of the line are there and unused. */
  const int send[2] = {10 * rank + 1, 10 * rank + 2};
  int mpi[2] = {-1, -1}, renamed[2] = {-1, -1}, ported[2] = {-1, -1};
  MPI_Neighbor_alltoall(send, 1, MPI_INT, mpi, 1, MPI_INT, line);

  MPI_Neighbor_xchg(send, 1, MPI_INT, renamed, 1, MPI_INT, line); /* wrong: fab's blocks are others */

  int slots[2], counts[2];
  const int blocks = mpi_slots(line, slots);
  for (int i = 0; i < blocks; ++i) counts[i] = 1;
  MPI_Neighbor_xchgv(send, counts, slots, MPI_INT, ported, counts, slots, MPI_INT, line);

  printf("rank %d: left %2d right %2d, renamed: left %2d right %2d, ported: left %2d right %2d\n", rank, mpi[0], mpi[1],
         renamed[0], renamed[1], ported[0], ported[1]);
  MPI_Comm_free(&line);
  MPI_Finalize();
}
