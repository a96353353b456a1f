// Every documented error, with the error handlers of communicators; and that exchanges go on afterwards.
#include <array>

#include "communicators.h"

namespace fab::test {
namespace {

/// Calls of an error handler of the test's own.
struct Handled {
  int calls = 0;
  int code = MPI_SUCCESS;
  MPI_Comm comm = MPI_COMM_NULL;
};

Handled handled;

void note(MPI_Comm* comm, int* code, ...) {  // NOLINT(cert-dcl50-cpp): MPI's signature
  ++handled.calls;
  handled.code = *code;
  handled.comm = *comm;
}

/// Installs the noting handler for a while.
class Noting {
 public:
  explicit Noting(MPI_Comm comm) : comm_(comm) {
    handled = {};
    EXPECT_EQ(MPI_Comm_get_errhandler(comm, &previous_), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_create_errhandler(note, &handler_), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_set_errhandler(comm, handler_), MPI_SUCCESS);
  }
  Noting(const Noting&) = delete;
  Noting& operator=(const Noting&) = delete;
  ~Noting() {
    EXPECT_EQ(MPI_Comm_set_errhandler(comm_, previous_), MPI_SUCCESS);
    EXPECT_EQ(MPI_Errhandler_free(&previous_), MPI_SUCCESS);
    EXPECT_EQ(MPI_Errhandler_free(&handler_), MPI_SUCCESS);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler previous_ = MPI_ERRHANDLER_NULL;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

Comm returning(Comm comm) {
  EXPECT_EQ(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
  return comm;
}

Comm without_topology() {
  MPI_Comm comm = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
  return returning(Comm(comm));
}

Comm ring_graph() {
  const int source = left_of(world_rank());
  const int destination = right_of(world_rank());
  MPI_Comm comm = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &destination, MPI_UNWEIGHTED,
                                           MPI_INFO_NULL, 0, &comm),
            MPI_SUCCESS);
  return returning(Comm(comm));
}

/// A ring, and arguments that are right, for one of them to be made wrong.
class ErrorTest : public testing::Test {
 protected:
  void TearDown() override { expect_good_exchange(); }

  void expect_good_exchange() {
    std::array<int, 2> recv{-1, -1};
    ASSERT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, recv.data(), 1, MPI_INT, comm_), MPI_SUCCESS);
    EXPECT_EQ(recv, (std::array{right_of(world_rank()), left_of(world_rank())}));
  }

  Comm comm_ = returning(ring());
  std::array<int, 8> send_{world_rank(), world_rank()};
  std::array<int, 8> recv_{-1, -1, -1, -1, -1, -1, -1, -1};
  std::array<int, 2> ones_{1, 1};
  std::array<int, 2> places_{0, 1};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

TEST_F(ErrorTest, NegativeCounts) {
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), -1, MPI_INT, recv_.data(), 1, MPI_INT, comm_), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), -1, MPI_INT, comm_), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Ineighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), -1, MPI_INT, comm_, &request_), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Cart_shift_xchg(send_.data(), -1, MPI_INT, recv_.data(), 1, MPI_INT, 0, 1, comm_), MPI_ERR_COUNT);
  const std::array<int, 2> negative{1, -1};
  EXPECT_EQ(MPI_Neighbor_xchgv(send_.data(), negative.data(), places_.data(), MPI_INT, recv_.data(), ones_.data(),
                               places_.data(), MPI_INT, comm_),
            MPI_ERR_COUNT);
  EXPECT_EQ(request_, MPI_REQUEST_NULL);
}

// Those that wait for the rank learn of it, and the next exchange, of the same size, brings nothing of this one.
TEST_F(ErrorTest, ARefusedCallUsesUpItsPlace) {
  const bool refuses = world_rank() == 0;
  const bool is_neighbor = right_of(world_rank()) == 0 || left_of(world_rank()) == 0;
  const std::array<int, 2> old{-7, -7};
  const int expected = refuses ? MPI_ERR_COUNT : is_neighbor ? MPI_ERR_OTHER : MPI_SUCCESS;
  EXPECT_EQ(MPI_Neighbor_xchg(old.data(), refuses ? -1 : 1, MPI_INT, recv_.data(), 1, MPI_INT, comm_), expected);
  expect_good_exchange();
  const int code =
      MPI_Ineighbor_xchg(old.data(), 1, MPI_INT, refuses ? nullptr : recv_.data(), 1, MPI_INT, comm_, &request_);
  EXPECT_EQ(code, refuses ? MPI_ERR_BUFFER : MPI_SUCCESS);
  if (!refuses) {
    EXPECT_EQ(MPI_Wait(&request_, MPI_STATUS_IGNORE), is_neighbor ? MPI_ERR_OTHER : MPI_SUCCESS);
  }
}

TEST_F(ErrorTest, BadTypes) {
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_DATATYPE_NULL, recv_.data(), 1, MPI_INT, comm_), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_DATATYPE_NULL, comm_), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Icart_shift_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_DATATYPE_NULL, 0, 1, comm_, &request_),
            MPI_ERR_TYPE);
  MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_contiguous(2, MPI_INT, &uncommitted), MPI_SUCCESS);
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, uncommitted, recv_.data(), 1, MPI_INT, comm_), MPI_ERR_TYPE);
  ASSERT_EQ(MPI_Type_free(&uncommitted), MPI_SUCCESS);
}

TEST_F(ErrorTest, BadBuffers) {
  EXPECT_EQ(MPI_Neighbor_xchg(nullptr, 1, MPI_INT, recv_.data(), 1, MPI_INT, comm_), MPI_ERR_BUFFER);
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, nullptr, 1, MPI_INT, comm_), MPI_ERR_BUFFER);
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm_), MPI_ERR_BUFFER);
  EXPECT_EQ(MPI_Cart_shift_xchg(send_.data(), 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, 1, comm_), MPI_ERR_BUFFER);
}

// A call that repeats finds its plan by its arguments, and the checks of those were passed.
TEST_F(ErrorTest, AreFoundAlsoWhereGoodCallsRepeat) {
  for (int i = 0; i < 3; ++i) expect_good_exchange();
  const auto expect = [this](int error, const void* send, int sent, MPI_Datatype send_type, void* recv, int received,
                             MPI_Datatype recv_type) {
    EXPECT_EQ(MPI_Neighbor_xchg(send, sent, send_type, recv, received, recv_type, comm_), error);
    EXPECT_EQ(MPI_Ineighbor_xchg(send, sent, send_type, recv, received, recv_type, comm_, &request_), error);
    expect_good_exchange();
  };
  expect(MPI_ERR_COUNT, send_.data(), -1, MPI_INT, recv_.data(), 1, MPI_INT);
  expect(MPI_ERR_COUNT, send_.data(), 1, MPI_INT, recv_.data(), -1, MPI_INT);
  expect(MPI_ERR_TYPE, send_.data(), 1, MPI_DATATYPE_NULL, recv_.data(), 1, MPI_INT);
  expect(MPI_ERR_TYPE, send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_DATATYPE_NULL);
  expect(MPI_ERR_BUFFER, nullptr, 1, MPI_INT, recv_.data(), 1, MPI_INT);
  expect(MPI_ERR_BUFFER, send_.data(), 1, MPI_INT, nullptr, 1, MPI_INT);
  expect(MPI_ERR_BUFFER, send_.data(), 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT);
  EXPECT_EQ(MPI_Ineighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, comm_, nullptr), MPI_ERR_ARG);
  EXPECT_EQ(request_, MPI_REQUEST_NULL);
}

TEST_F(ErrorTest, AreFoundAlsoWhereGoodVariedCallsRepeat) {
  const auto good = [this] {
    recv_.fill(-1);
    EXPECT_EQ(MPI_Neighbor_xchgv(send_.data(), ones_.data(), places_.data(), MPI_INT, recv_.data(), ones_.data(),
                                 places_.data(), MPI_INT, comm_),
              MPI_SUCCESS);
    EXPECT_EQ(recv_[0], right_of(world_rank()));
  };
  for (int i = 0; i < 3; ++i) good();
  const auto expect = [&](int error, const void* send, const int* sent, const int* from, MPI_Datatype send_type,
                          const int* received, const int* to) {
    EXPECT_EQ(MPI_Neighbor_xchgv(send, sent, from, send_type, recv_.data(), received, to, MPI_INT, comm_), error);
    EXPECT_EQ(MPI_Ineighbor_xchgv(send, sent, from, send_type, recv_.data(), received, to, MPI_INT, comm_, &request_),
              error);
    good();
  };
  const int* const ones = ones_.data();
  const int* const places = places_.data();
  const std::array<int, 2> negative{1, -1};
  expect(MPI_ERR_COUNT, send_.data(), negative.data(), places, MPI_INT, ones, places);
  expect(MPI_ERR_COUNT, send_.data(), ones, places, MPI_INT, negative.data(), places);
  expect(MPI_ERR_ARG, send_.data(), nullptr, places, MPI_INT, ones, places);
  expect(MPI_ERR_ARG, send_.data(), ones, nullptr, MPI_INT, ones, places);
  expect(MPI_ERR_ARG, send_.data(), ones, places, MPI_INT, nullptr, places);
  expect(MPI_ERR_ARG, send_.data(), ones, places, MPI_INT, ones, nullptr);
  expect(MPI_ERR_TYPE, send_.data(), ones, places, MPI_DATATYPE_NULL, ones, places);
  expect(MPI_ERR_BUFFER, nullptr, ones, places, MPI_INT, ones, places);
  EXPECT_EQ(request_, MPI_REQUEST_NULL);
}

TEST_F(ErrorTest, NullPointers) {
  EXPECT_EQ(MPI_Ineighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, comm_, nullptr), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Neighbor_xchgv(send_.data(), nullptr, places_.data(), MPI_INT, recv_.data(), ones_.data(),
                               places_.data(), MPI_INT, comm_),
            MPI_ERR_ARG);
  EXPECT_EQ(MPI_Neighbor_xchgv(send_.data(), ones_.data(), places_.data(), MPI_INT, recv_.data(), ones_.data(), nullptr,
                               MPI_INT, comm_),
            MPI_ERR_ARG);
  EXPECT_EQ(MPI_Comm_neighbors_count(comm_, 0, nullptr), MPI_ERR_ARG);
  EXPECT_EQ(MPI_Comm_neighbors(comm_, 0, 2, nullptr), MPI_ERR_ARG);
  int neighbor = 0;
  EXPECT_EQ(MPI_Comm_neighbors(comm_, 0, -1, &neighbor), MPI_ERR_ARG);
}

TEST_F(ErrorTest, BadDirectionsAndRanks) {
  for (const int direction : {-1, 1, 100})
    EXPECT_EQ(MPI_Cart_shift_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, direction, 1, comm_),
              MPI_ERR_DIMS);
  int count = 0;
  for (const int rank : {-1, world_size(), MPI_PROC_NULL})
    EXPECT_EQ(MPI_Comm_neighbors_count(comm_, rank, &count), MPI_ERR_RANK);
}

TEST_F(ErrorTest, NoTopology) {
  const Comm bare = without_topology();
  int count = 0;
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, bare), MPI_ERR_TOPOLOGY);
  EXPECT_EQ(MPI_Cart_shift_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, 0, 1, bare), MPI_ERR_TOPOLOGY);
  EXPECT_EQ(MPI_Comm_neighbors_count(bare, 0, &count), MPI_ERR_TOPOLOGY);
}

TEST_F(ErrorTest, ShiftNeedsACartesianTopology) {
  const Comm graph = ring_graph();
  EXPECT_EQ(MPI_Cart_shift_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, 0, 1, graph), MPI_ERR_TOPOLOGY);
}

TEST_F(ErrorTest, OnlyTheOwnNeighborsOfADistributedGraphAreKnown) {
  const Comm graph = ring_graph();
  int neighbor = -1;
  EXPECT_EQ(MPI_Comm_neighbors(graph, world_rank(), 1, &neighbor), MPI_SUCCESS);
  EXPECT_EQ(neighbor, right_of(world_rank()));
  if (world_size() > 1) {
    EXPECT_EQ(MPI_Comm_neighbors(graph, right_of(world_rank()), 1, &neighbor), MPI_ERR_RANK);
  }
}

// Without FAB_CHECK: the neighbors of rank 0, which has refused the call, ask it, and are told.
TEST_F(ErrorTest, ARefusedCallIsToldToNeighborsThatOnlyTest) {
  if (world_size() == 1) GTEST_SKIP() << "no other rank waits";
  MPI_Request request = MPI_REQUEST_NULL;
  if (world_rank() == 0) {
    EXPECT_EQ(MPI_Ineighbor_xchg(send_.data(), -1, MPI_INT, recv_.data(), 1, MPI_INT, comm_, &request), MPI_ERR_COUNT);
  } else {
    ASSERT_EQ(MPI_Ineighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, comm_, &request), MPI_SUCCESS);
    int flag = 0;
    int code = MPI_SUCCESS;
    while (flag == 0 && code == MPI_SUCCESS) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    const bool waits_for_it = world_rank() == right_of(0) || world_rank() == left_of(0);
    EXPECT_TRUE(code == MPI_ERR_OTHER || !waits_for_it) << code;
  }
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, comm_), MPI_SUCCESS);
}

TEST_F(ErrorTest, OneSidedGraphIsRefusedOnAllRanks) {
  if (world_size() == 1) GTEST_SKIP() << "a single rank has no one-sided edges";
  std::vector<int> index(static_cast<std::size_t>(world_size()), 1);
  const int edges[] = {1};
  MPI_Comm handle = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Graph_create(MPI_COMM_WORLD, world_size(), index.data(), edges, 0, &handle), MPI_SUCCESS);
  const Comm graph = returning(Comm(handle));
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, graph), MPI_ERR_TOPOLOGY);
}

TEST_F(ErrorTest, NullAndInterCommunicators) {
  const Noting noting(MPI_COMM_WORLD);
  int count = 0;
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM);
  EXPECT_EQ(MPI_Comm_neighbors_count(MPI_COMM_NULL, 0, &count), MPI_ERR_COMM);
  EXPECT_EQ(handled.calls, 2);
  if (world_size() == 1) return;  // an inter-communicator has two sides
  MPI_Comm half = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half), MPI_SUCCESS);
  const Comm side(half);
  MPI_Comm handle = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank() % 2, 0, &handle), MPI_SUCCESS);
  const Comm inter = returning(Comm(handle));
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, inter), MPI_ERR_COMM);
  EXPECT_EQ(MPI_Comm_neighbors_count(inter, 0, &count), MPI_ERR_COMM);
}

TEST_F(ErrorTest, HandlerOfTheCommunicatorIsCalled) {
  const Noting noting(comm_);
  EXPECT_EQ(MPI_Neighbor_xchg(send_.data(), -1, MPI_INT, recv_.data(), 1, MPI_INT, comm_), MPI_ERR_COUNT);
  EXPECT_EQ(handled.calls, 1);
  EXPECT_EQ(handled.code, MPI_ERR_COUNT);
  EXPECT_EQ(handled.comm, static_cast<MPI_Comm>(comm_));
}

/// Every rank sends its right neighbor more than that expects there, and its left one as much as that expects.
class TruncationTest : public ErrorTest {
 protected:
  [[nodiscard]] int start(const std::array<int, 2>& sent) {
    return MPI_Ineighbor_xchgv(send_.data(), sent.data(), places_.data(), MPI_INT, recv_.data(), ones_.data(),
                               far_.data(), MPI_INT, comm_, &request_);
  }
  void expect_guards_unharmed() const {
    for (const std::size_t i : {0u, 1u, 3u, 4u, 6u, 7u}) EXPECT_EQ(recv_[i], -1) << i;
  }

  std::array<int, 2> more_{2, 1};
  std::array<int, 2> far_{5, 2};
};

TEST_F(TruncationTest, BlockingCallReturnsIt) {
  EXPECT_EQ(MPI_Neighbor_xchgv(send_.data(), more_.data(), places_.data(), MPI_INT, recv_.data(), ones_.data(),
                               far_.data(), MPI_INT, comm_),
            MPI_ERR_TRUNCATE);
  expect_guards_unharmed();
}

TEST_F(TruncationTest, WaitReturnsIt) {
  const Noting noting(comm_);
  ASSERT_EQ(start(more_), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request_, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  EXPECT_EQ(request_, MPI_REQUEST_NULL);
  EXPECT_EQ(handled.calls, 1);
  EXPECT_EQ(handled.comm, static_cast<MPI_Comm>(comm_));
  expect_guards_unharmed();
}

TEST_F(TruncationTest, TestReturnsIt) {
  ASSERT_EQ(start(more_), MPI_SUCCESS);
  int flag = 0;
  int code = MPI_SUCCESS;
  while (flag == 0) code = MPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
  EXPECT_EQ(code, MPI_ERR_TRUNCATE);
  EXPECT_EQ(request_, MPI_REQUEST_NULL);
}

TEST_F(TruncationTest, WaitallPutsItIntoTheStatus) {
  std::array<int, 2> recv{-1, -1};
  std::array<MPI_Request, 3> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  ASSERT_EQ(start(more_), MPI_SUCCESS);
  requests[1] = request_;
  ASSERT_EQ(MPI_Ineighbor_xchg(send_.data(), 1, MPI_INT, recv.data(), 1, MPI_INT, comm_, &requests[2]), MPI_SUCCESS);
  std::array<MPI_Status, 3> statuses;
  EXPECT_EQ(MPI_Waitall(3, requests.data(), statuses.data()), MPI_ERR_IN_STATUS);
  EXPECT_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);
  EXPECT_EQ(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
  EXPECT_EQ(statuses[2].MPI_ERROR, MPI_SUCCESS);
  EXPECT_EQ(recv, (std::array{right_of(world_rank()), left_of(world_rank())}));
}

TEST_F(TruncationTest, WaitsomeAndWaitanyReportIt) {
  ASSERT_EQ(start(more_), MPI_SUCCESS);
  int count = 0;
  int index = -1;
  MPI_Status status;
  EXPECT_EQ(MPI_Waitsome(1, &request_, &count, &index, &status), MPI_ERR_IN_STATUS);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(status.MPI_ERROR, MPI_ERR_TRUNCATE);
  ASSERT_EQ(start(more_), MPI_SUCCESS);
  index = -1;
  EXPECT_EQ(MPI_Waitany(1, &request_, &index, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  EXPECT_EQ(index, 0);
  EXPECT_EQ(request_, MPI_REQUEST_NULL);
}

TEST_F(TruncationTest, FreedCommunicatorsErrorsGoToTheWorlds) {
  Comm comm = ring();
  const Noting noting(MPI_COMM_WORLD);
  ASSERT_EQ(MPI_Ineighbor_xchgv(send_.data(), more_.data(), places_.data(), MPI_INT, recv_.data(), ones_.data(),
                                far_.data(), MPI_INT, comm, &request_),
            MPI_SUCCESS);
  comm.free();
  EXPECT_EQ(MPI_Wait(&request_, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  EXPECT_EQ(handled.calls, 1);
  EXPECT_EQ(handled.comm, MPI_COMM_WORLD);
}

TEST_F(TruncationTest, LessThanDeclaredIsAnErrorToo) {
  const std::array<int, 2> less{0, 1};
  ASSERT_EQ(start(less), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request_, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
  expect_guards_unharmed();
}

TEST_F(TruncationTest, LargeMessagesAreTruncatedTheSameWay) {
  constexpr std::size_t kLarge = 300'000;
  const std::vector<int> send(2 * kLarge, world_rank());
  std::vector<int> recv(2 * kLarge, -1);
  const std::array<int, 2> sent{kLarge, 1};
  const std::array<int, 2> expected{1, kLarge / 2};
  const std::array<int, 2> places{0, 10};
  EXPECT_EQ(MPI_Neighbor_xchgv(send.data(), sent.data(), places_.data(), MPI_INT, recv.data(), expected.data(),
                               places.data(), MPI_INT, comm_),
            MPI_ERR_TRUNCATE);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_EQ(recv[i], -1);
  for (std::size_t i = 10 + kLarge / 2; i < recv.size(); ++i) ASSERT_EQ(recv[i], -1) << i;
}

}  // namespace
}  // namespace fab::test
