// main() of the tests that use MPI. Every rank runs every test; any rank's failure is everyone's.
#include <fab/mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "support/rank_main.h"

namespace {

void require(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::fprintf(stderr, "%s failed with MPI error %d\n", call, code);
  std::abort();
}

// --thread-level=single|funneled|serialized|multiple; multiple unless told.
int thread_level(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--thread-level=single") return MPI_THREAD_SINGLE;
    if (argument == "--thread-level=funneled") return MPI_THREAD_FUNNELED;
    if (argument == "--thread-level=serialized") return MPI_THREAD_SERIALIZED;
  }
  return MPI_THREAD_MULTIPLE;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  require(MPI_Init_thread(&argc, &argv, thread_level(argc, argv), &provided), "MPI_Init_thread");
  int rank = 0;
  int size = 0;
  require(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  require(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");

  int status = fab::test::run_tests(argc, argv, rank, size);

  require(MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  require(MPI_Finalize(), "MPI_Finalize");
  return status;
}
