// A program that calls fab's own functions of MPI and the standard's: both are of one fab, which opens once.
#include <fab/mpi.h>
#include <mpi.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "expect.h"

namespace {

int threads_of_fab() {
  int threads = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    threads += name.starts_with("fab-") ? 1 : 0;
  }
  return threads;
}

}  // namespace

int main(int argc, char** argv) {
  int rank = 0;
  int ranks = 1;
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  int neighbors[2] = {-1, -1};
  MPI_Comm_neighbors(ring, rank, 2, neighbors);
  const int left = (rank + ranks - 1) % ranks;
  const int right = (rank + 1) % ranks;
  for (int round = 0; round < 20; ++round) {
    const int mine[2] = {10 * rank, 10 * rank + 1};
    int theirs[2][2] = {{-1, -1}, {-1, -1}};
    int sum = round;
    MPI_Request requests[3];
    expect(MPI_Ineighbor_xchg(mine, 1, MPI_INT, theirs[0], 1, MPI_INT, ring, &requests[0]) == MPI_SUCCESS,
           "MPI_Ineighbor_xchg");
    expect(MPI_Ineighbor_alltoall(mine, 1, MPI_INT, theirs[1], 1, MPI_INT, ring, &requests[1]) == MPI_SUCCESS,
           "MPI_Ineighbor_alltoall");
    expect(MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]) == MPI_SUCCESS,
           "MPI_Iallreduce");
    expect(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS && sum == ranks * round, "MPI_Waitall");
    expect(theirs[1][0] == 10 * left + 1 && theirs[1][1] == 10 * right, "blocks of MPI_Ineighbor_alltoall");
    expect(theirs[0][0] / 10 == neighbors[0] && theirs[0][1] / 10 == neighbors[1], "blocks of MPI_Ineighbor_xchg");
    expect(MPI_Neighbor_xchg(mine, 1, MPI_INT, theirs[0], 1, MPI_INT, ring) == MPI_SUCCESS, "MPI_Neighbor_xchg");
    expect(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, ring) == MPI_SUCCESS, "MPI_Allreduce");
  }
  expect(threads_of_fab() <= 1, "one fab");
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
