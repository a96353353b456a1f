// Several communicators and threads at once, and MPI's own progress while fab waits. At the end each context tells of
// its late wake-ups in the log, where ctest looks for them.
#include <algorithm>
#include <array>
#include <memory>
#include <thread>

#include "communicators.h"

namespace fab::test {
namespace {

/// The two values that a rank receives on a ring.
std::vector<int> from_neighbors(int tag) { return {tag + right_of(world_rank()), tag + left_of(world_rank())}; }

std::vector<int> to_neighbors(int tag) { return {tag + world_rank(), tag + world_rank()}; }

void exchange(MPI_Comm comm, int tag) {
  const std::vector<int> send = to_neighbors(tag);
  std::vector<int> recv(2, -1);
  ASSERT_EQ(MPI_Neighbor_xchg(send.data(), 1, MPI_INT, recv.data(), 1, MPI_INT, comm), MPI_SUCCESS);
  EXPECT_EQ(recv, from_neighbors(tag));
}

TEST(ConcurrencyTest, CommunicatorsAreFirstUsedInDifferentOrders) {
  constexpr int kCommunicators = 4;
  std::vector<Comm> comms;
  for (int i = 0; i < kCommunicators; ++i) comms.push_back(ring());
  std::vector<int> order(kCommunicators);
  for (int i = 0; i < kCommunicators; ++i) order[static_cast<std::size_t>(i)] = (i + world_rank()) % kCommunicators;

  std::vector<MPI_Request> requests(kCommunicators, MPI_REQUEST_NULL);
  std::vector<std::vector<int>> send;
  for (int i = 0; i < kCommunicators; ++i) send.push_back(to_neighbors(1000 * i));
  std::vector<std::vector<int>> recv(kCommunicators, std::vector<int>(2, -1));
  for (const int i : order) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(MPI_Ineighbor_xchg(send[at].data(), 1, MPI_INT, recv[at].data(), 1, MPI_INT, comms[at], &requests[at]),
              MPI_SUCCESS);
  }
  ASSERT_EQ(MPI_Waitall(kCommunicators, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  for (int i = 0; i < kCommunicators; ++i) EXPECT_EQ(recv[static_cast<std::size_t>(i)], from_neighbors(1000 * i));
}

TEST(ConcurrencyTest, BlockingCallMeetsANonBlockingOneBehindAnother) {
  const Comm first = ring();
  const Comm second = ring();
  if (world_rank() % 2 == 0) {
    exchange(first, 1);
    exchange(second, 2);
    return;
  }
  const std::vector<int> send_first = to_neighbors(1);
  const std::vector<int> send_second = to_neighbors(2);
  std::vector<int> recv_first(2, -1);
  std::vector<int> recv_second(2, -1);
  MPI_Request requests[2];
  ASSERT_EQ(MPI_Ineighbor_xchg(send_second.data(), 1, MPI_INT, recv_second.data(), 1, MPI_INT, second, &requests[0]),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_Ineighbor_xchg(send_first.data(), 1, MPI_INT, recv_first.data(), 1, MPI_INT, first, &requests[1]),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(recv_first, from_neighbors(1));
  EXPECT_EQ(recv_second, from_neighbors(2));
}

// Odd ranks wait for the first exchange only after they started the second; the messages of both are on their way to
// ranks that do not expect all of them yet, on connections that some providers let block.
TEST(ConcurrencyTest, LongMessagesComeBeforeTheirReceives) {
  for (const int count : {100, 3000, 100'000}) {
    std::array<Comm, 3> comms{ring(), ring(), ring()};
    const std::vector<int> send(2 * static_cast<std::size_t>(count), world_rank());
    std::array<std::vector<int>, 3> recv;
    recv.fill(std::vector<int>(send.size(), -1));
    if (world_rank() % 2 == 0) {
      for (std::size_t i = 0; i < comms.size(); ++i)
        ASSERT_EQ(MPI_Neighbor_xchg(send.data(), count, MPI_INT, recv[i].data(), count, MPI_INT, comms[i]),
                  MPI_SUCCESS);
    } else {
      std::array<MPI_Request, 3> requests;
      for (const std::size_t i : {2u, 0u, 1u})
        ASSERT_EQ(
            MPI_Ineighbor_xchg(send.data(), count, MPI_INT, recv[i].data(), count, MPI_INT, comms[i], &requests[i]),
            MPI_SUCCESS);
      ASSERT_EQ(MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    }
    for (const std::vector<int>& got : recv) {
      EXPECT_EQ(got.front(), right_of(world_rank()));
      EXPECT_EQ(got.back(), left_of(world_rank()));
    }
  }
}

TEST(ConcurrencyTest, ThreadsUseDifferentCommunicators) {
  int level = MPI_THREAD_SINGLE;
  ASSERT_EQ(MPI_Query_thread(&level), MPI_SUCCESS);
  ASSERT_EQ(level, MPI_THREAD_MULTIPLE);
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  std::vector<Comm> comms;
  for (int i = 0; i < kThreads; ++i) comms.push_back(ring());
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([comm = static_cast<MPI_Comm>(comms[static_cast<std::size_t>(i)]), i] {
      for (int round = 0; round < kRounds; ++round) {
        exchange(comm, 10'000 * i + 10 * round);
        const std::vector<int> send(2 * 3000, world_rank() + i);
        std::vector<int> recv(send.size(), -1);
        MPI_Request request = MPI_REQUEST_NULL;
        EXPECT_EQ(MPI_Ineighbor_xchg(send.data(), 3000, MPI_INT, recv.data(), 3000, MPI_INT, comm, &request),
                  MPI_SUCCESS);
        if (i % 2 == 0) {
          EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        } else {
          for (int complete = 0; complete == 0;)
            EXPECT_EQ(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
        EXPECT_EQ(recv.front(), right_of(world_rank()) + i);
        EXPECT_EQ(recv.back(), left_of(world_rank()) + i);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

constexpr int kLarge = 2'000'000;  ///< ints: MPI sends so many only when the receiver helps

// Odd ranks are stuck in MPI_Send until their left neighbors, which are in an exchange already, make progress in MPI.
TEST(ConcurrencyTest, ExchangeKeepsMpiGoing) {
  const Comm comm = ring();
  const int rank = world_rank();
  const bool receives = rank % 2 == 0 && rank + 1 < world_size();
  std::vector<int> large(kLarge, rank);
  MPI_Request request = MPI_REQUEST_NULL;
  if (receives) {
    ASSERT_EQ(MPI_Irecv(large.data(), kLarge, MPI_INT, rank + 1, 5, MPI_COMM_WORLD, &request), MPI_SUCCESS);
  }
  if (rank % 2 == 1) {
    ASSERT_EQ(MPI_Send(large.data(), kLarge, MPI_INT, rank - 1, 5, MPI_COMM_WORLD), MPI_SUCCESS);
  }
  exchange(comm, 3);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  const int expected = receives ? rank + 1 : rank;
  EXPECT_TRUE(std::all_of(large.begin(), large.end(), [expected](int value) { return value == expected; }));
}

// The other way round: MPI's own wait carries the exchange that the sender is waiting for.
TEST(ConcurrencyTest, WaitForAMessageKeepsExchangesGoing) {
  const Comm comm = ring();
  const std::vector<int> send(2 * 100'000, world_rank());
  std::vector<int> recv(send.size(), -1);
  MPI_Request exchange_request = MPI_REQUEST_NULL;
  MPI_Request message = MPI_REQUEST_NULL;
  int token = -1;
  ASSERT_EQ(MPI_Irecv(&token, 1, MPI_INT, left_of(world_rank()), 6, MPI_COMM_WORLD, &message), MPI_SUCCESS);
  ASSERT_EQ(MPI_Ineighbor_xchg(send.data(), 100'000, MPI_INT, recv.data(), 100'000, MPI_INT, comm, &exchange_request),
            MPI_SUCCESS);
  const int mine = world_rank();
  if (world_rank() % 2 == 0) {  // sends only when its own exchange is done
    ASSERT_EQ(MPI_Wait(&exchange_request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_EQ(MPI_Send(&mine, 1, MPI_INT, right_of(world_rank()), 6, MPI_COMM_WORLD), MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&message, MPI_STATUS_IGNORE), MPI_SUCCESS);
  } else {  // waits for the message first
    ASSERT_EQ(MPI_Wait(&message, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_EQ(MPI_Send(&mine, 1, MPI_INT, right_of(world_rank()), 6, MPI_COMM_WORLD), MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&exchange_request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  EXPECT_EQ(token, left_of(world_rank()));
  EXPECT_EQ(recv.front(), right_of(world_rank()));
  EXPECT_EQ(recv.back(), left_of(world_rank()));
}

TEST(ConcurrencyTest, BarrierPendingOverAnExchange) {
  const Comm comm = ring();
  MPI_Request barrier = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Ibarrier(comm, &barrier), MPI_SUCCESS);
  exchange(comm, 4);
  ASSERT_EQ(MPI_Wait(&barrier, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

TEST(ConcurrencyTest, ManyShortLivedCommunicators) {
  for (int i = 0; i < 100; ++i) {
    const Comm comm = ring();
    exchange(comm, 10 * i);
  }
}

}  // namespace
}  // namespace fab::test
