// A program that makes a communicator where a freed one was, with the same handle. MPI carries its calls on the one,
// and fab on the other: then fab has a thread.
#include <mpi.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "expect.h"

namespace {

constexpr int kCalls = 20;  // the first few are passed on in any case
constexpr int kMostTries = 50;

bool has_thread_of_fab() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name.starts_with("fab-")) return true;
  }
  return false;
}

void add_ones(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  for (int call = 0; call < kCalls; ++call) {
    std::vector<double> values(1024, 1);
    const int code = MPI_Allreduce(MPI_IN_PLACE, values.data(), 1024, MPI_DOUBLE, MPI_SUM, comm);
    expect(code == MPI_SUCCESS && values.front() == ranks && values.back() == ranks, "sum");
  }
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Comm alone = MPI_COMM_NULL;
  std::vector<MPI_Comm> all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
  const MPI_Comm freed = alone;
  add_ones(alone);
  expect(!has_thread_of_fab(), "fab has carried a call of one rank");
  MPI_Comm_free(&alone);
  int same = 0;
  while (same == 0 && all.size() < kMostTries) {
    MPI_Comm_dup(MPI_COMM_WORLD, &all.emplace_back(MPI_COMM_NULL));
    same = all.back() == freed ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  expect(all.back() == freed, "no communicator has the handle of the freed one");
  add_ones(all.back());
  expect(has_thread_of_fab(), "fab has carried no call of all ranks");
  for (MPI_Comm& each : all) MPI_Comm_free(&each);
  MPI_Finalize();
  return failures;
}
