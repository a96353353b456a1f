/* Exchanges in a ring before which one rank is late. Usage: fab_mpi_late LATE_RANK EXCHANGES [SILENT_RANK]
 * SILENT_RANK makes no call of fab's. With LATE_BY_MPI the exchange is a collective of MPI's, for libfab_dropin. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef LATE_BY_MPI
#include <fab/mpi.h>
#endif

static int number(int argc, char **argv, int place, int otherwise) {
  return argc > place ? atoi(argv[place]) : otherwise;
}

static void exchange(const double out[2], double in[2], MPI_Comm ring) {
#ifdef LATE_BY_MPI
  MPI_Neighbor_alltoall(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, ring);
#else
  MPI_Neighbor_xchg(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, ring);
#endif
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int late_rank = number(argc, argv, 1, -1);
  const int exchanges = number(argc, argv, 2, 100);
  const int silent_rank = number(argc, argv, 3, -1);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == silent_rank ? MPI_UNDEFINED : 0, rank, &part);
  if (part != MPI_COMM_NULL) {
    int size = 0;
    const int periodic = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Comm_size(part, &size);
    MPI_Cart_create(part, 1, &size, &periodic, 0, &ring);
    const double out[2] = {0};
    double in[2] = {0};
    for (int i = 0; i < exchanges; ++i) {
      if (rank == late_rank) usleep(5000);
      exchange(out, in, ring);
    }
    MPI_Comm_free(&ring);
    MPI_Comm_free(&part);
  }
  MPI_Finalize();
  return 0;
}
