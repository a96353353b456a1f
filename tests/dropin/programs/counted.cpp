// What fab does for communicators that are made and freed, and have no call that fab carries (FAB_DROPIN=auto): nothing
// for those without a collective call; for the others one look for its record, one record, and no other call of MPI's.
#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

enum Counted : std::size_t { get_attr, set_attr, of_communicators, allocations, kCounted };
constexpr std::array<const char*, kCounted> kNames = {"PMPI_Comm_get_attr", "PMPI_Comm_set_attr",
                                                      "other calls on communicators", "allocations"};

std::array<int, kCounted> counts{};

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// The program calls the MPI_ names, so that these are fab's calls. fab is written in C++, and MPI is not.
#define COUNT(counted, Name, parameters, arguments)                           \
  int PMPI_##Name parameters {                                                \
    static const auto next_one = next<decltype(&PMPI_##Name)>("PMPI_" #Name); \
    ++counts[counted];                                                        \
    return next_one arguments;                                                \
  }
extern "C" {
COUNT(get_attr, Comm_get_attr, (MPI_Comm comm, int keyval, void* value, int* flag), (comm, keyval, value, flag))
COUNT(set_attr, Comm_set_attr, (MPI_Comm comm, int keyval, void* value), (comm, keyval, value))
COUNT(of_communicators, Comm_test_inter, (MPI_Comm comm, int* flag), (comm, flag))
COUNT(of_communicators, Comm_size, (MPI_Comm comm, int* size), (comm, size))
COUNT(of_communicators, Comm_rank, (MPI_Comm comm, int* rank), (comm, rank))
COUNT(of_communicators, Comm_group, (MPI_Comm comm, MPI_Group* group), (comm, group))
COUNT(of_communicators, Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
COUNT(of_communicators, Topo_test, (MPI_Comm comm, int* status), (comm, status))
}

void* operator new(std::size_t bytes) {
  ++counts[allocations];
  if (void* const block = std::malloc(bytes)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace {

void make_and_free(int communicators, bool used) {
  for (int i = 0; i < communicators; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int sum = 1;
    if (used) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (used) MPI_Barrier(comm);
    MPI_Comm_free(&comm);
  }
}

/// Whether fab does for each communicator at most what is expected.
bool costs_at_most(const std::array<int, kCounted>& expected, bool used) {
  constexpr int kCommunicators = 100;
  make_and_free(1, used);  // after which everything that is kept is there
  counts = {};
  make_and_free(kCommunicators, used);
  bool right = true;
  for (std::size_t i = 0; i < kCounted; ++i) {
    if (counts[i] <= expected[i] * kCommunicators) continue;
    std::fprintf(stderr, "%s: %d for %d communicators %s\n", kNames[i], counts[i], kCommunicators,
                 used ? "with two calls" : "without a call");
    right = false;
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  make_and_free(1, true);
  const bool loaded = counts[get_attr] > 0;
  if (!loaded) std::fputs("fab's calls do not come here\n", stderr);
  const bool unused = costs_at_most({0, 0, 0, 0}, false);
  const bool used = costs_at_most({1, 1, 0, 1}, true);
  MPI_Finalize();
  return loaded && unused && used ? EXIT_SUCCESS : EXIT_FAILURE;
}
