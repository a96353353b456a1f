// Rank 1 refuses an exchange that the other ranks make and never start: they count rank 1 among their peers, rank 1
// counts no peer. All must come back from MPI_Finalize.
#include <mpi.h>

#include <cstdio>

#include "fab/mpi.h"

namespace {

int said_wrongly(const char* what, int code) {
  std::fprintf(stderr, "%s returned %d\n", what, code);
  return 1;
}

int run() {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  const bool refuses = rank == 1;
  const int out[2] = {rank, rank};
  int in[2] = {-1, -1};
  MPI_Request request = MPI_REQUEST_NULL;
  const int code =
      MPI_Neighbor_xchg_init(out, refuses ? -1 : 1, MPI_INT, in, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
  if (refuses != (code != MPI_SUCCESS)) return said_wrongly("MPI_Neighbor_xchg_init", code);
  const int freed = refuses ? MPI_SUCCESS : MPI_Request_free(&request);
  MPI_Barrier(MPI_COMM_WORLD);  // rank 1 closes fab once the others know where it is
  return freed == MPI_SUCCESS ? 0 : said_wrongly("MPI_Request_free", freed);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int wrong = run();
  MPI_Finalize();
  return wrong;
}
