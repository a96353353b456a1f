// A program under a tool (tool.c) that lies before or behind fab. Usage: profiled REDUCTIONS NEIGHBORS INITS STARTS
// WAITS, the calls that the tool has to have seen in the end: of those that fab passes on, a tool behind sees each, and
// of the others none.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "dropin/init_of.h"

namespace {

int rank = 0;
int ranks = 1;
int failures = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  ++failures;
}

int counted(const char* name) {
  using Counted = int();
  auto* const function = reinterpret_cast<Counted*>(::dlsym(RTLD_DEFAULT, name));
  return function == nullptr ? -1 : function();
}

void expect_counted(const char* name, const char* expected) {
  const int calls = counted(name);
  if (calls == std::atoi(expected)) return;
  std::fprintf(stderr, "%s: %d calls instead of %s\n", name, calls, expected);
  ++failures;
}

/// Ten blocking ones, and four that are waited for.
void reduce() {
  for (int i = 0; i < 10; ++i) {
    int sum = rank;
    expect(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Allreduce");
    expect(sum == ranks * (ranks - 1) / 2, "a sum");
  }
  for (int i = 0; i < 4; ++i) {
    int sum = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && sum == ranks, "MPI_Wait");
  }
}

/// Along a ring: three blocking ones, and two that are waited for.
void exchange() {
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  const int left = (rank + ranks - 1) % ranks;
  const int right = (rank + 1) % ranks;
  const int mine[2] = {2 * rank, 2 * rank + 1};  // for the left, for the right
  for (int i = 0; i < 5; ++i) {
    int theirs[2] = {-1, -1};
    MPI_Request request = MPI_REQUEST_NULL;
    if (i < 3) {
      MPI_Neighbor_alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, ring);
    } else {
      MPI_Ineighbor_alltoall(mine, 1, MPI_INT, theirs, 1, MPI_INT, ring, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    // Open MPI 4.1 swaps the two of a process that is both neighbours.
    expect(theirs[0] + theirs[1] == 2 * left + 1 + 2 * right, "the neighbours' numbers");
  }
  MPI_Comm_free(&ring);
}

/// A persistent one, twice.
void reduce_again() {
  int mine = 0;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  INIT_OF(Allreduce)(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 1; i <= 2; ++i) {
    mine = i;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(sum == i * ranks, "a persistent sum");
  }
  MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return EXIT_FAILURE;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  reduce();
  exchange();
  reduce_again();
  expect_counted("counted_reductions", argv[1]);
  expect_counted("counted_neighbors", argv[2]);
  expect_counted("counted_inits", argv[3]);
  expect_counted("counted_starts", argv[4]);
  expect_counted("counted_waits", argv[5]);
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
