// Partitioned neighbour exchanges by MPI's names: threads mark partitions, and ask for them.
#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "communicators.h"

namespace fab::test {
namespace {

constexpr std::size_t kNeighbors = 2;

/// A partitioned exchange on a ring. Elements are pairs of which the first half travels.
class PartitionedRing {
 public:
  PartitionedRing(MPI_Comm comm, int partitions, int count) : partitions_(partitions), count_(count) {
    const auto ints = kNeighbors * static_cast<std::size_t>(partitions * count) * 2;
    send_.resize(ints);
    recv_.resize(ints);
    MPI_Datatype half = MPI_DATATYPE_NULL;
    EXPECT_EQ(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &half), MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_commit(&half), MPI_SUCCESS);
    EXPECT_EQ(MPI_Pneighbor_xchg_init(send_.data(), partitions, count, half, recv_.data(), count, half, comm,
                                      MPI_INFO_NULL, &request),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_Type_free(&half), MPI_SUCCESS);
  }
  ~PartitionedRing() { EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS); }
  PartitionedRing(const PartitionedRing&) = delete;
  PartitionedRing& operator=(const PartitionedRing&) = delete;

  void start() {
    std::ranges::fill(recv_, -1);
    ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
  }
  void write_and_mark(int neighbor, int partition, int sender, int start) {
    for (int i = 0; i < count_; ++i) send_[place(neighbor, partition, i)] = value(neighbor, partition, sender, start);
    EXPECT_EQ(MPI_Neighbor_pready(neighbor, partition, request), MPI_SUCCESS);
  }
  [[nodiscard]] bool has_arrived(int neighbor, int partition) const {
    int flag = -1;
    EXPECT_EQ(MPI_Neighbor_parrived(request, neighbor, partition, &flag), MPI_SUCCESS);
    return flag != 0;
  }
  void expect(int neighbor, int partition, int from, int start) const {
    for (int i = 0; i < count_; ++i) {
      EXPECT_EQ(recv_[place(neighbor, partition, i)], value(1 - neighbor, partition, from, start));
      EXPECT_EQ(recv_[place(neighbor, partition, i) + 1], -1) << "does not travel";
    }
  }
  [[nodiscard]] int partitions() const { return partitions_; }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  [[nodiscard]] std::size_t place(int neighbor, int partition, int i) const {
    return 2 * static_cast<std::size_t>((neighbor * partitions_ + partition) * count_ + i);
  }
  static int value(int neighbor, int partition, int sender, int start) {
    return neighbor + 2 * partition + 1000 * sender + 100'000 * start;
  }

  int partitions_;
  int count_;
  std::vector<int> send_;
  std::vector<int> recv_;
};

/// Of a start, by three threads.
void run_threads(PartitionedRing& ring, int rank, int start, const std::array<int, kNeighbors>& from) {
  constexpr int kThreads = 3;
  const auto work = [&](int thread) {
    std::vector<int> own;
    for (int i = thread; i < 2 * ring.partitions(); i += kThreads) own.push_back(i);
    std::ranges::shuffle(own, std::minstd_rand(static_cast<unsigned>(1 + rank + 10 * thread + 100 * start)));
    for (const int i : own) ring.write_and_mark(i % 2, i / 2, rank, start);
    for (const int i : own) {
      while (!ring.has_arrived(i % 2, i / 2)) std::this_thread::yield();
      ring.expect(i % 2, i / 2, from[static_cast<std::size_t>(i % 2)], start);
    }
  };
  std::vector<std::jthread> team;
  for (int thread = 1; thread < kThreads; ++thread) team.emplace_back(work, thread);
  work(0);
}

TEST(Partitioned, ThreadsMarkPartitionsAndAskForThem) {
  const Comm comm = test::ring();
  const int rank = rank_in(comm);
  PartitionedRing small(comm, 5, 3);
  PartitionedRing large(comm, 3, 8000);
  for (int start = 0; start < 10; ++start)
    for (PartitionedRing* ring : {&small, &large}) {
      ring->start();
      run_threads(*ring, rank, start, {right_of(rank), left_of(rank)});
      EXPECT_EQ(MPI_Wait(&ring->request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_NE(ring->request, MPI_REQUEST_NULL);
      EXPECT_TRUE(ring->has_arrived(0, 0)) << "it is not active";
    }
}

TEST(Partitioned, MayBeFreedBeforeAllPartitionsAreReady) {
  const Comm comm = test::ring();
  EXPECT_EQ(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
  {
    PartitionedRing ring(comm, 2, 10'000);
    ring.start();
    ring.write_and_mark(0, 0, rank_in(comm), 0);
    ring.write_and_mark(0, 1, rank_in(comm), 0);
  }
  PartitionedRing later(comm, 2, 10'000);
  later.start();
  run_threads(later, rank_in(comm), 1, {right_of(rank_in(comm)), left_of(rank_in(comm))});
  EXPECT_EQ(MPI_Wait(&later.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
}

TEST(Partitioned, RefusesWhatThereIsNot) {
  const Comm comm = test::ring();
  EXPECT_EQ(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), MPI_SUCCESS);
  const auto class_of = [](int code) {
    int error_class = -1;
    EXPECT_EQ(MPI_Error_class(code, &error_class), MPI_SUCCESS);
    return error_class;
  };
  std::array<int, 8> send{};
  std::array<int, 8> recv{};
  MPI_Request request = MPI_REQUEST_NULL;
  const auto make = [&](const void* from, int partitions) {
    return class_of(
        MPI_Pneighbor_xchg_init(from, partitions, 2, MPI_INT, recv.data(), 2, MPI_INT, comm, MPI_INFO_NULL, &request));
  };
  EXPECT_EQ(make(send.data(), 0), MPI_ERR_ARG);
  EXPECT_EQ(make(MPI_IN_PLACE, 2), MPI_ERR_BUFFER);
  ASSERT_EQ(make(send.data(), 2), MPI_SUCCESS);
  int flag = 0;
  EXPECT_EQ(class_of(MPI_Neighbor_pready(0, 0, request)), MPI_ERR_ARG) << "before MPI_Start";
  ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Neighbor_pready(2, 0, request)), MPI_ERR_ARG);
  EXPECT_EQ(class_of(MPI_Neighbor_pready(-1, 0, request)), MPI_ERR_ARG);
  EXPECT_EQ(class_of(MPI_Neighbor_pready(0, 2, request)), MPI_ERR_ARG);
  EXPECT_EQ(class_of(MPI_Neighbor_parrived(request, 0, -1, &flag)), MPI_ERR_ARG);
  EXPECT_EQ(class_of(MPI_Neighbor_parrived(request, 0, 0, nullptr)), MPI_ERR_ARG);
  EXPECT_EQ(class_of(MPI_Neighbor_pready(0, 0, MPI_REQUEST_NULL)), MPI_ERR_REQUEST);
  for (const int neighbor : {0, 1})
    for (const int partition : {0, 1}) EXPECT_EQ(MPI_Neighbor_pready(neighbor, partition, request), MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Neighbor_pready(0, 0, request)), MPI_ERR_ARG) << "twice";
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);

  ASSERT_EQ(MPI_Neighbor_xchg_init(send.data(), 2, MPI_INT, recv.data(), 2, MPI_INT, comm, MPI_INFO_NULL, &request),
            MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Neighbor_pready(0, 0, request)), MPI_ERR_ARG) << "its blocks have no partitions";
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
}

}  // namespace
}  // namespace fab::test
