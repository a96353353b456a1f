// main() of programs that use MPI and know nothing of fab.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "support/rank_main.h"

namespace {

void require(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::fprintf(stderr, "%s failed with MPI error %d\n", call, code);
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  require(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  int rank = 0;
  int size = 0;
  require(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  require(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  int status = fab::test::run_tests(argc, argv, rank, size);
  require(MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  require(MPI_Finalize(), "MPI_Finalize");
  return status;
}
