// Communicators by the thousand, or no carried call at all: fab is not opened, and memory and descriptors stay as they
// are. Usage: idle none|many|times [opened]
//   none: messages only. many: makes 3000 communicators of three kinds, uses each twice and frees it. times: tells how
//   long one takes, for docs/lab/drop-in.md.
//   opened: fab is opened all the same (FAB_DROPIN=all).
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

int rank = 0;
int ranks = 1;
int failures = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  ++failures;
}

int entries_of(const char* folder) {
  int entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) entries += entry.exists() ? 1 : 0;
  return entries;
}

long resident_pages() {
  long all = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident;
}

/// Its thread, or its memory.
bool fab_is_open() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name.starts_with("fab-")) return true;
  }
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("/dev/shm/fab") != std::string::npos || line.find("memfd:fab") != std::string::npos) return true;
  return false;
}

MPI_Comm make(int kind) {
  MPI_Comm comm = MPI_COMM_NULL;
  const int periodic = 1;
  if (kind == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (kind == 1) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  if (kind == 2) MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &comm);
  return comm;
}

void use(MPI_Comm comm, int kind) {
  int sum = 1;
  expect(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == ranks, "MPI_Allreduce");
  const int mine[2] = {rank, rank};
  int got[2] = {-1, -1};
  if (kind != 2) {
    expect(MPI_Barrier(comm) == MPI_SUCCESS, "MPI_Barrier");
    return;
  }
  expect(MPI_Neighbor_alltoall(mine, 1, MPI_INT, got, 1, MPI_INT, comm) == MPI_SUCCESS, "MPI_Neighbor_alltoall");
  expect(got[0] == (rank + ranks - 1) % ranks && got[1] == (rank + 1) % ranks, "its blocks");
}

void make_and_free(int communicators) {
  for (int i = 0; i < communicators; ++i) {
    MPI_Comm comm = make(i % 3);
    use(comm, i % 3);
    MPI_Comm_free(&comm);
  }
}

void make_many() {
  make_and_free(600);  // until everything that is kept is there
  const int descriptors = entries_of("/proc/self/fd");
  const int threads = entries_of("/proc/self/task");
  const long pages = resident_pages();
  make_and_free(2400);
  expect(entries_of("/proc/self/fd") <= descriptors, "descriptors are left");
  expect(entries_of("/proc/self/task") <= threads, "threads are left");
  const long grown = resident_pages() - pages;
  if (grown > 512) std::fprintf(stderr, "rank %d: %ld pages more\n", rank, grown);
  expect(grown <= 512, "memory is left");
}

/// In us, on this rank: the median over blocks of a few communicators.
double time_of_one(int kind, bool used) {
  constexpr int kBlock = 20;
  std::array<double, 101> times{};
  for (double& time : times) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < kBlock; ++i) {
      MPI_Comm comm = make(kind);
      if (used) use(comm, kind);
      MPI_Comm_free(&comm);
    }
    time = (MPI_Wtime() - begin) * 1e6 / kBlock;
  }
  auto* const middle = times.begin() + times.size() / 2;
  std::ranges::nth_element(times, middle);
  return *middle;
}

void tell_times() {
  make_and_free(300);
  for (const bool used : {false, true}) {
    for (int kind = 0; kind < 3; ++kind) {
      static constexpr const char* kNames[] = {"MPI_Comm_dup", "MPI_Comm_split", "MPI_Cart_create"};
      const double us = time_of_one(kind, used);
      if (rank == 0) std::printf("%-15s %-6s %7.2f us\n", kNames[kind], used ? "used" : "unused", us);
    }
  }
}

void send_around() {
  int got = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(got == (rank + ranks - 1) % ranks, "MPI_Sendrecv");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1 && std::strcmp(argv[1], "many") == 0)
    make_many();
  else if (argc > 1 && std::strcmp(argv[1], "times") == 0)
    tell_times();
  else
    send_around();
  const bool opened = argc > 2 && std::strcmp(argv[2], "opened") == 0;
  expect(fab_is_open() == opened, opened ? "fab was not opened" : "fab was opened");
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
