// Collectives of several threads at a time, each on its own communicators, in every form; at the same time another
// thread waits in MPI for a message that comes at the end.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "dropin/init_of.h"

namespace {

constexpr int kThreads = 3;
constexpr int kRounds = 60;
constexpr int kMost = 20000;  // ints in the longer exchanges

int rank = 0;
int ranks = 1;
std::atomic<int> failures{0};

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  ++failures;
}

struct Comms {
  MPI_Comm flat = MPI_COMM_NULL;
  MPI_Comm ring = MPI_COMM_NULL;
};

Comms make_comms() {
  Comms made;
  const int periodic = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &made.flat);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &made.ring);
  return made;
}

/// Blocking and non-blocking collectives on the same communicator, completed in another order than they were started.
void run_round(const Comms& comms, int thread, int round) {
  const int count = round % 5 == 0 ? kMost : 1 + round;
  const auto size = static_cast<std::size_t>(count);
  const int value = 1000 * thread + round;
  std::vector<int> sums(size, value + rank);
  std::vector<int> told(size, round % ranks == rank ? value : -1);
  const std::vector<int> mine(2 * size, value + rank);
  std::vector<int> theirs(2 * size, -1);
  int first = rank;
  MPI_Request requests[3];
  MPI_Iallreduce(MPI_IN_PLACE, sums.data(), count, MPI_INT, MPI_SUM, comms.flat, &requests[0]);
  MPI_Ineighbor_alltoall(mine.data(), count, MPI_INT, theirs.data(), count, MPI_INT, comms.ring, &requests[1]);
  MPI_Ibcast(told.data(), count, MPI_INT, round % ranks, comms.flat, &requests[2]);
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comms.flat);
  expect(first == 0, "MPI_Allreduce");
  if (round % 2 == 0) {
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    int flag = 0;
    while (flag == 0) MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
  }
  const int sum = ranks * value + ranks * (ranks - 1) / 2;
  const std::size_t last = size - 1;
  expect(sums[0] == sum && sums[last] == sum, "MPI_Iallreduce");
  expect(told[0] == value && told[last] == value, "MPI_Ibcast");
  expect(theirs[0] == value + (rank + ranks - 1) % ranks && theirs[2 * size - 1] == value + (rank + 1) % ranks,
         "MPI_Ineighbor_alltoall");
}

/// A persistent exchange is made, started twice and freed, while other threads do so on theirs.
void exchange_again(MPI_Comm ring, int thread) {
  const int mine[2] = {10 * rank + thread, 10 * rank + thread};
  int theirs[2] = {-1, -1};
  MPI_Request request = MPI_REQUEST_NULL;
  INIT_OF(Neighbor_alltoall)(mine, 1, MPI_INT, theirs, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
  for (int start = 0; start < 2; ++start) {
    theirs[0] = theirs[1] = -1;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(theirs[0] == 10 * ((rank + ranks - 1) % ranks) + thread && theirs[1] == 10 * ((rank + 1) % ranks) + thread,
           "Neighbor_alltoall_init");
  }
  MPI_Request_free(&request);
}

void wait_for_message() {
  int told = 0;
  MPI_Recv(&told, 1, MPI_INT, (rank + 1) % ranks, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(told == 42, "MPI_Recv");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (provided != MPI_THREAD_MULTIPLE) return EXIT_FAILURE;
  std::vector<Comms> comms;
  for (int i = 0; i < kThreads; ++i) comms.push_back(make_comms());
  std::thread receiver(wait_for_message);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&comms, i] {
      const Comms& own = comms[static_cast<std::size_t>(i)];
      for (int round = 0; round < kRounds; ++round) {
        run_round(own, i, round);
        if (round % 10 == 0) exchange_again(own.ring, i);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const int told = 42;
  MPI_Send(&told, 1, MPI_INT, (rank + ranks - 1) % ranks, 77, MPI_COMM_WORLD);
  receiver.join();
  for (Comms& each : comms) {
    MPI_Comm_free(&each.flat);
    MPI_Comm_free(&each.ring);
  }
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
