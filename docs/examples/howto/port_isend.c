/* A ring that is exchanged over and over: by MPI_Isend and MPI_Irecv, and by a persistent exchange. */
#include <fab/mpi.h>
#include <stdio.h>

enum { kCells = 1000, kSteps = 100 };

/* All cells become the mean of what the two neighbours sent. */
static void step(double mine[2][kCells], double theirs[2][kCells]) {
  for (int i = 0; i < kCells; ++i) mine[0][i] = mine[1][i] = (theirs[0][i] + theirs[1][i]) / 2;
}

static void start_with(double mine[2][kCells], int rank) {
  for (int i = 0; i < kCells; ++i) mine[0][i] = mine[1][i] = rank;
}

int main(int argc, char** argv) {
  static double mine[2][kCells], theirs[2][kCells];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int neighbors[2] = {(rank + 1) % size, (rank + size - 1) % size}, weights[2] = {1, 1};

  start_with(mine, rank);
  for (int k = 0; k < kSteps; ++k) {
    MPI_Request requests[4];
    for (int n = 0; n < 2; ++n) {
      MPI_Irecv(theirs[n], kCells, MPI_DOUBLE, neighbors[n], 1 - n, MPI_COMM_WORLD, &requests[n]);
      MPI_Isend(mine[n], kCells, MPI_DOUBLE, neighbors[n], n, MPI_COMM_WORLD, &requests[2 + n]);
    }
    /* ... compute ... */
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    step(mine, theirs);
  }
  const double before = mine[0][0];

  MPI_Comm ring; /* the neighbours are told once; block n goes to, and comes from, neighbour n */
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, neighbors, weights, 2, neighbors, weights, MPI_INFO_NULL, 0, &ring);
  MPI_Request exchange;
  MPI_Neighbor_xchg_init(mine, kCells, MPI_DOUBLE, theirs, kCells, MPI_DOUBLE, ring, MPI_INFO_NULL, &exchange);
  start_with(mine, rank);
  for (int k = 0; k < kSteps; ++k) {
    MPI_Start(&exchange);
    /* ... compute ... */
    MPI_Wait(&exchange, MPI_STATUS_IGNORE);
    step(mine, theirs);
  }
  if (rank == 0) printf("by messages %.3f, by exchanges %.3f\n", before, mine[0][0]);

  MPI_Request_free(&exchange);
  MPI_Comm_free(&ring);
  MPI_Finalize();
}
