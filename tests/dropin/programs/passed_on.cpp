// A program whose calls fab has to leave to MPI, each checked by its result: between groups, and with a process of
// another launch. Usage: passed_on, which starts one more process, or passed_on by-itself, with calls that fab could
// carry, also while MPI finalizes, or passed_on at-the-end, whose only calls are those while MPI finalizes.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int rank = 0;
int ranks = 1;
int failures = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  ++failures;
}

int sum_of_ones(MPI_Comm comm) {
  int sum = 1;
  expect(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "MPI_Allreduce");
  return sum;
}

void use_groups() {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &halves);
  int others = 0;
  int remote = 0;
  const int one = 1;
  MPI_Comm_remote_size(halves, &remote);
  expect(MPI_Allreduce(&one, &others, 1, MPI_INT, MPI_SUM, halves) == MPI_SUCCESS && others == remote,
         "MPI_Allreduce between groups");
  MPI_Request request = MPI_REQUEST_NULL;
  others = 0;
  expect(MPI_Iallreduce(&one, &others, 1, MPI_INT, MPI_SUM, halves, &request) == MPI_SUCCESS &&
             MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && others == remote,
         "MPI_Iallreduce between groups");
  int told = rank % 2 == 0 ? -1 : 0;
  if (rank == 0) told = 42;
  const int root = rank == 0 ? MPI_ROOT : rank % 2 == 0 ? MPI_PROC_NULL : 0;
  expect(MPI_Bcast(&told, 1, MPI_INT, root, halves) == MPI_SUCCESS, "MPI_Bcast between groups");
  expect(told == (rank == 0 || rank % 2 == 1 ? 42 : -1), "what MPI_Bcast between groups brought");
  MPI_Comm_free(&halves);
  MPI_Comm_free(&half);
}

int run_child(MPI_Comm parent) {
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(parent, 1, &all);
  expect(sum_of_ones(all) > 1, "with the parents");
  expect(sum_of_ones(MPI_COMM_WORLD) == 1, "the child's own world");
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&parent);
  return 0;
}

void use_child(char* program) {
  MPI_Comm child = MPI_COMM_NULL;
  MPI_Comm all = MPI_COMM_NULL;
  int code = MPI_SUCCESS;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &child, &code);
  MPI_Info_free(&info);
  expect(code == MPI_SUCCESS, "MPI_Comm_spawn");
  MPI_Intercomm_merge(child, 0, &all);
  expect(sum_of_ones(all) == ranks + 1, "with a process that was spawned");
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&child);
}

/// MPI_Finalize calls it before it closes fab.
int at_the_end(MPI_Comm, int, void* calls, void*) {
  ++*static_cast<int*>(calls);
  expect(sum_of_ones(MPI_COMM_WORLD) == ranks, "a reduction within MPI_Finalize");
  int told = rank == 0 ? 7 : 0;
  MPI_Request request = MPI_REQUEST_NULL;
  expect(MPI_Ibcast(&told, 1, MPI_INT, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS, "MPI_Ibcast within MPI_Finalize");
  expect(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && told == 7, "its result");
  return MPI_SUCCESS;
}

void hang_onto_self(int* calls) {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, calls);
  MPI_Comm_free_keyval(&keyval);
}

void use_own_calls() {
  for (int i = 0; i < 10; ++i) {
    expect(sum_of_ones(MPI_COMM_WORLD) == ranks, "MPI_Allreduce");
    expect(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "MPI_Barrier");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool by_itself = argc > 1 && std::strcmp(argv[1], "by-itself") == 0;
  const bool at_the_end_only = argc > 1 && std::strcmp(argv[1], "at-the-end") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int calls = 0;
  if (parent != MPI_COMM_NULL) {
    failures += run_child(parent);
  } else if (by_itself) {
    hang_onto_self(&calls);  // before and after fab opens
    use_own_calls();
    hang_onto_self(&calls);
  } else if (at_the_end_only) {
    hang_onto_self(&calls);
  } else {
    use_groups();
    use_child(argv[0]);
  }
  MPI_Finalize();
  if (by_itself) expect(calls == 2, "the functions that MPI_Finalize calls");
  if (at_the_end_only) expect(calls == 1, "the function that MPI_Finalize calls");
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
