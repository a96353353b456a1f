// Sequence numbers that wrap, in builds of calls that are checked: the environment is set before fab opens.
#include <cstdlib>

#include "communicators.h"

namespace fab::test {
namespace {

/// However many bits the tags give to sequence numbers, these are 20 below the wrap.
constexpr const char* kNearTheWrap = "18446744073709551596";

class Settings : public testing::Environment {
 public:
  void SetUp() override {
    ASSERT_EQ(::setenv("FAB_SEQUENCE_START", kNearTheWrap, 1), 0);
    ASSERT_EQ(::setenv("FAB_CHECK", "1", 1), 0);
  }
};

const testing::Environment* const kSettings = testing::AddGlobalTestEnvironment(new Settings);

TEST(CheckedTest, SequenceNumbersWrap) {
  const Comm comm = ring();
  for (int i = 0; i < 60; ++i) {
    const int send[] = {100 * i + world_rank(), 100 * i + world_rank() + 50};
    int recv[] = {-1, -1};
    ASSERT_EQ(MPI_Neighbor_xchg(send, 1, MPI_INT, recv, 1, MPI_INT, comm), MPI_SUCCESS);
    EXPECT_EQ(recv[0], 100 * i + right_of(world_rank()) + 50);
    EXPECT_EQ(recv[1], 100 * i + left_of(world_rank()));
  }
}

TEST(CheckedTest, SequenceNumbersWrapWhileExchangesAreOutstanding) {
  const Comm comm = ring();
  constexpr int kExchanges = 60;
  std::vector<MPI_Request> requests(kExchanges);
  std::vector<int> send(2 * kExchanges);
  std::vector<int> recv(2 * kExchanges, -1);
  for (int i = 0; i < kExchanges; ++i) {
    const auto at = static_cast<std::size_t>(i);
    send[2 * at] = send[2 * at + 1] = 100 * i + world_rank();
    ASSERT_EQ(MPI_Ineighbor_xchg(&send[2 * at], 1, MPI_INT, &recv[2 * at], 1, MPI_INT, comm, &requests[at]),
              MPI_SUCCESS);
  }
  ASSERT_EQ(MPI_Waitall(kExchanges, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  for (int i = 0; i < kExchanges; ++i) {
    EXPECT_EQ(recv[2 * static_cast<std::size_t>(i)], 100 * i + right_of(world_rank()));
    EXPECT_EQ(recv[2 * static_cast<std::size_t>(i) + 1], 100 * i + left_of(world_rank()));
  }
}

// One rank exchanges, the other shifts: without the check the messages would pass for each other's.
TEST(CheckedTest, DifferentCallsAreTold) {
  if (world_size() != 2) GTEST_SKIP() << "with other neighbors, some would wait for messages that are never sent";
  const Comm comm = ring();
  ASSERT_EQ(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
  const int send[] = {1, 2};
  int recv[] = {-1, -1};
  const int code = world_rank() == 0 ? MPI_Neighbor_xchg(send, 1, MPI_INT, recv, 1, MPI_INT, comm)
                                     : MPI_Cart_shift_xchg(send, 2, MPI_INT, recv, 2, MPI_INT, 0, 1, comm);
  EXPECT_EQ(code, MPI_ERR_OTHER);
}

/// How an exchange ends for a caller that only tests.
int test_until_done(MPI_Request request) {
  int flag = 0;
  int code = MPI_SUCCESS;
  while (flag == 0 && code == MPI_SUCCESS) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  return code;
}

// The last rank calls something else than the others. They are neighbors or not: all of them learn of it.
TEST(CheckedTest, DifferentCallsAreToldToAllRanksThatTest) {
  if (world_size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const Comm comm = ring();
  ASSERT_EQ(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
  const bool odd = world_rank() == world_size() - 1;
  const int send[8] = {};
  int recv[8] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(odd ? MPI_Ineighbor_xchg(send, 1, MPI_INT, recv, 1, MPI_INT, comm, &request)
                : MPI_Icart_shift_xchg(send, 1, MPI_INT, recv, 1, MPI_INT, 0, 1, comm, &request),
            MPI_SUCCESS);
  EXPECT_EQ(test_until_done(request), MPI_ERR_OTHER) << "kind";
  ASSERT_EQ(MPI_Icart_shift_xchg(send, 1, MPI_INT, recv, 1, MPI_INT, 0, odd ? -1 : 1, comm, &request), MPI_SUCCESS);
  EXPECT_EQ(test_until_done(request), MPI_ERR_OTHER) << "displacement";
  // In a line of ranks only the last but one finds it.
  const Comm line = cartesian({world_size()}, {0});
  ASSERT_EQ(MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN), MPI_SUCCESS);
  ASSERT_EQ(MPI_Ineighbor_xchg(send, odd ? 2 : 1, MPI_INT, recv, 1, MPI_INT, line, &request), MPI_SUCCESS);
  EXPECT_EQ(test_until_done(request), MPI_ERR_TRUNCATE) << "count along an edge";
  ASSERT_EQ(MPI_Ineighbor_xchg(send, 1, MPI_INT, recv, 1, MPI_INT, comm, &request), MPI_SUCCESS);
  EXPECT_EQ(test_until_done(request), MPI_SUCCESS);
}

}  // namespace
}  // namespace fab::test
