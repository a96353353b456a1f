/* Figures 2 to 4 of "Topological Collectives for MPI-2": grids of 3 x 3 ranks, in which rank r sends 10 r + i in block
 * i. Ends with status 1 if any rank finds something wrong. */
#include <fab/mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, wrong;

static void expect(int right, const char* what) {
  if (right) return;
  ++wrong;
  printf("rank %d: wrong: %s\n", rank, what);
}

static void expect_neighbors(MPI_Comm grid, int of, int count, const int* expected) {
  int found = 0, neighbors[4];
  MPI_Comm_neighbors_count(grid, of, &found);
  expect(found == count, "number of neighbors");
  MPI_Comm_neighbors(grid, of, 4, neighbors);
  expect(memcmp(neighbors, expected, sizeof(int) * (size_t)count) == 0, "neighbors");
}

/* All ranks exchange; rank `of` looks at what it got. */
static void expect_blocks(MPI_Comm grid, int of, int count, const int* expected) {
  int send[4], recv[4] = {-1, -1, -1, -1};
  for (int i = 0; i < 4; ++i) send[i] = 10 * rank + i;
  MPI_Neighbor_xchg(send, 1, MPI_INT, recv, 1, MPI_INT, grid);
  if (rank != of) return;
  expect(memcmp(recv, expected, sizeof(int) * (size_t)count) == 0, "blocks");
  for (int i = count; i < 4; ++i) expect(recv[i] == -1, "no block for a border");
}

static int shifted(MPI_Comm grid) {
  int value = rank;
  MPI_Cart_shift_xchg(MPI_IN_PLACE, 1, MPI_INT, &value, 1, MPI_INT, 1, -1, grid);
  return value;
}

int main(int argc, char** argv) {
  const int sides[2] = {3, 3}, no[2] = {0, 0}, yes[2] = {1, 1};
  int all_wrong = 0;
  MPI_Comm open_grid, torus;
  MPI_Init(&argc, &argv);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, no, 0, &open_grid);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, yes, 0, &torus);
  MPI_Comm_rank(open_grid, &rank);

  /* Figure 2: rank 4, in the middle. */
  expect_neighbors(open_grid, 4, 4, (const int[]){7, 1, 5, 3});
  expect_blocks(open_grid, 4, 4, (const int[]){70, 10, 52, 32});
  /* Figure 3: rank 8, in a corner, of a grid that is not periodic and of one that is. */
  expect_neighbors(open_grid, 8, 2, (const int[]){5, 7});
  expect_blocks(open_grid, 8, 2, (const int[]){50, 71});
  expect_neighbors(torus, 8, 4, (const int[]){2, 5, 6, 7});
  expect_blocks(torus, 8, 4, (const int[]){21, 50, 63, 72});
  /* Figure 4: a shift of a single buffer in the second dimension by -1. */
  expect(shifted(open_grid) == (rank % 3 < 2 ? rank + 1 : rank), "figure 4, not periodic");
  expect(shifted(torus) == (rank % 3 < 2 ? rank + 1 : rank - 2), "figure 4, periodic");

  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_free(&open_grid);
  MPI_Comm_free(&torus);
  MPI_Finalize();
  return all_wrong != 0;
}
