/* Heat flows through a cube from one hot wall: a 7-point stencil in C. The faces of the local block are subarray types,
 * so nothing is packed by hand, and the exchange runs behind the cells that need no halo. */
#include <fab/mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 48, STEPS = 200 }; /* cells of the cube per dimension */

/* The faces next to neighbors in the order of MPI_Neighbor_xchgw: in each dimension +1 before -1, none where the grid
 * ends. `halo`: the halo cells there instead of the own ones. Returns how many there are. */
static int faces(MPI_Comm grid, const int n[3], int halo, MPI_Datatype types[6]) {
  const int size[3] = {n[0] + 2, n[1] + 2, n[2] + 2};
  int count = 0;
  for (int d = 0; d < 3; ++d)
    for (int sign = 1; sign >= -1; sign -= 2) {
      int from, to, face[3] = {n[0], n[1], n[2]}, start[3] = {1, 1, 1};
      MPI_Cart_shift(grid, d, sign, &from, &to);
      if (to == MPI_PROC_NULL) continue;
      face[d] = 1;
      start[d] = sign > 0 ? n[d] + halo : 1 - halo;
      MPI_Type_create_subarray(3, size, face, start, MPI_ORDER_C, MPI_DOUBLE, &types[count]);
      MPI_Type_commit(&types[count++]);
    }
  return count;
}

/* Relaxes the cells that need no halo, or the others. */
static void relax(const int n[3], const double* now, double* next, int needs_halo) {
  const int row = n[2] + 2, plane = (n[1] + 2) * row;
  for (int x = 1; x <= n[0]; ++x)
    for (int y = 1; y <= n[1]; ++y)
      for (int z = 1; z <= n[2]; ++z) {
        const int at_edge = x == 1 || x == n[0] || y == 1 || y == n[1] || z == 1 || z == n[2];
        const double* cell = &now[x * plane + y * row + z];
        if (at_edge == needs_halo)
          next[cell - now] = (cell[-plane] + cell[plane] + cell[-row] + cell[row] + cell[-1] + cell[1]) / 6;
      }
}

int main(int argc, char** argv) {
  int ranks, rank, dims[3] = {0, 0, 0}, periodic[3] = {0, 0, 0}, place[3];
  MPI_Comm grid;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 3, place);

  int n[3]; /* own cells */
  for (int d = 0; d < 3; ++d) n[d] = N * (place[d] + 1) / dims[d] - N * place[d] / dims[d];
  const int plane = (n[1] + 2) * (n[2] + 2);
  double* field[2];
  for (int i = 0; i < 2; ++i) {
    field[i] = calloc((size_t)(n[0] + 2) * (size_t)plane, sizeof(double));
    for (int cell = 0; place[0] == 0 && cell < plane; ++cell) field[i][cell] = 1; /* the hot wall */
  }

  const int ones[6] = {1, 1, 1, 1, 1, 1};
  const MPI_Aint zeros[6] = {0, 0, 0, 0, 0, 0};
  MPI_Datatype own[6], halo[6];
  MPI_Request exchange[2];
  const int neighbors = faces(grid, n, 0, own);
  faces(grid, n, 1, halo);
  for (int i = 0; i < 2; ++i) /* sends own cells and receives halo cells of the same array */
    MPI_Neighbor_xchgw_init(field[i], ones, zeros, own, field[i], ones, zeros, halo, grid, MPI_INFO_NULL, &exchange[i]);
  for (int i = 0; i < neighbors; ++i) MPI_Type_free(&own[i]), MPI_Type_free(&halo[i]);

  for (int step = 0; step < STEPS; ++step) {
    const double* now = field[step % 2];
    double* next = field[(step + 1) % 2];
    MPI_Start(&exchange[step % 2]);
    relax(n, now, next, 0);
    MPI_Wait(&exchange[step % 2], MPI_STATUS_IGNORE);
    relax(n, now, next, 1);
  }

  double heat = 0, all;
  for (int x = 1; x <= n[0]; ++x)
    for (int y = 1; y <= n[1]; ++y)
      for (int z = 1; z <= n[2]; ++z) heat += field[STEPS % 2][x * plane + y * (n[2] + 2) + z];
  MPI_Reduce(&heat, &all, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
  if (rank == 0) printf("heat in the cube: %.3f\n", all);

  for (int i = 0; i < 2; ++i) {
    MPI_Request_free(&exchange[i]);
    free(field[i]);
  }
  MPI_Comm_free(&grid);
  MPI_Finalize();
}
