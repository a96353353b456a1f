// A program under a tool (tool.c) that lies before or behind fab. Usage: profiled REDUCTIONS WAITS, the calls that the
// tool has to have seen in the end: of those that fab passes on, a tool behind sees each, and of the others none.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  reduce();
  expect_counted("counted_reductions", argv[1]);
  expect_counted("counted_waits", argv[2]);
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
