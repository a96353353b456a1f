// MPI_Neighbor_xchgw: a count, a datatype and a displacement per neighbor.
#include <array>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "communicators.h"
#include "typed_blocks.h"
#include "unit/support/allocation_count.h"

namespace fab::test {
namespace {

MPI_Aint address_of(const void* place) {
  MPI_Aint address = 0;
  EXPECT_EQ(MPI_Get_address(place, &address), MPI_SUCCESS);
  return address;
}

/// A ring on which errors are returned; block 0 is the right neighbor's.
Comm returning_ring() {
  Comm comm = ring();
  EXPECT_EQ(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
  return comm;
}

class NeighborXchgwTest : public testing::TestWithParam<Form> {
 protected:
  [[nodiscard]] int xchg(const TypedBlocks& send, const TypedBlocks& recv, MPI_Comm comm) const {
    return xchgw(GetParam(), send, recv, comm);
  }
};

/// The right neighbor gets a column of a 3 x 4 array, the left one a row; rows arrive as columns and as bytes.
TEST_P(NeighborXchgwTest, CountsDisplacementsAndTypesDifferFromBlockToBlock) {
  const Comm comm = ring();
  const CommittedType column([](MPI_Datatype* type) { return MPI_Type_vector(3, 1, 4, MPI_INT, type); });
  std::array<int, 12> send{};
  std::iota(send.begin(), send.end(), 100 * world_rank());
  std::array<int, 12> recv{};
  recv.fill(-1);
  const TypedBlocks from{send.data(), {1, 2}, {2 * sizeof(int), 4 * sizeof(int)}, {column, MPI_INT}};
  // From the right two integers, as bytes; from the left three, as a column.
  const TypedBlocks to{recv.data(), {2 * sizeof(int), 1}, {sizeof(int), 3 * sizeof(int)}, {MPI_BYTE, column}};
  ASSERT_EQ(xchg(from, to, comm), MPI_SUCCESS);
  const int right = 100 * right_of(world_rank());
  const int left = 100 * left_of(world_rank());
  EXPECT_EQ(recv, (std::array{-1, right + 4, right + 5, left + 2, -1, -1, -1, left + 6, -1, -1, -1, left + 10}));
}

TEST_P(NeighborXchgwTest, BottomMakesDisplacementsAddresses) {
  const Comm comm = ring();
  const int to_right = world_rank();
  const double to_left = world_rank() + 0.5;
  double from_right = -1;
  int from_left = -1;
  const TypedBlocks send{MPI_BOTTOM, {1, 1}, {address_of(&to_right), address_of(&to_left)}, {MPI_INT, MPI_DOUBLE}};
  const TypedBlocks recv{MPI_BOTTOM, {1, 1}, {address_of(&from_right), address_of(&from_left)}, {MPI_DOUBLE, MPI_INT}};
  ASSERT_EQ(xchg(send, recv, comm), MPI_SUCCESS);
  EXPECT_EQ(from_right, right_of(world_rank()) + 0.5);
  EXPECT_EQ(from_left, left_of(world_rank()));
}

TEST_P(NeighborXchgwTest, BlocksWithoutElementsStayAsTheyAre) {
  const Comm comm = ring();
  const int send = world_rank();
  std::array<int, 2> recv{-1, -1};
  // Only the left neighbor gets something, so only the right one sends.
  const TypedBlocks one_way{const_cast<int*>(&send), {0, 1}, {0, 0}, {MPI_DOUBLE, MPI_INT}};
  ASSERT_EQ(xchg(one_way, {recv.data(), {1, 0}, {0, sizeof(int)}, {MPI_INT, MPI_INT}}, comm), MPI_SUCCESS);
  EXPECT_EQ(recv, (std::array{right_of(world_rank()), -1}));
  const TypedBlocks nothing{nullptr, {0, 0}, {0, 0}, {MPI_INT, MPI_INT}};
  EXPECT_EQ(xchg(nothing, nothing, comm), MPI_SUCCESS);
}

// Block 0 is two integers with one between them, block 1 two in a row.
TEST_P(NeighborXchgwTest, InPlaceReplacesTheBlocks) {
  const Comm comm = ring();
  const CommittedType pair([](MPI_Datatype* type) { return MPI_Type_vector(2, 1, 2, MPI_INT, type); });
  const int self = 10 * world_rank();
  const std::array<int, 6> before{self, -1, self + 1, self + 2, self + 3, -1};
  std::array<int, 6> buffer = before;
  const TypedBlocks blocks{buffer.data(), {1, 2}, {0, 3 * sizeof(int)}, {pair, MPI_INT}};
  ASSERT_EQ(xchg({MPI_IN_PLACE}, blocks, comm), MPI_SUCCESS);
  const int right = 10 * right_of(world_rank());
  const int left = 10 * left_of(world_rank());
  if (GetParam() == Form::persistent)  // was started twice: all went there and back
    EXPECT_EQ(buffer, before);
  else
    EXPECT_EQ(buffer, (std::array{right + 2, -1, right + 3, left, left + 1, -1}));
}

TEST_P(NeighborXchgwTest, EndsOfDifferentLengthsAreAnError) {
  const Comm comm = returning_ring();
  std::array<double, 2> send{1, 2};
  std::array<double, 4> recv{-1, -1, -1, -1};
  const auto from = [&](MPI_Datatype both) {
    return TypedBlocks{send.data(), {1, 1}, {0, sizeof(double)}, {both, both}};
  };
  const auto into = [&](MPI_Datatype right, MPI_Datatype left) {
    return TypedBlocks{recv.data(), {1, 1}, {0, 2 * sizeof(double)}, {right, left}};
  };
  EXPECT_EQ(xchg(from(MPI_DOUBLE), into(MPI_DOUBLE, MPI_INT), comm), MPI_ERR_TRUNCATE) << "too much";
  EXPECT_EQ(recv[1], -1);
  EXPECT_EQ(recv[3], -1);
  EXPECT_EQ(xchg(from(MPI_INT), into(MPI_INT, MPI_DOUBLE), comm), MPI_ERR_OTHER) << "too little";
  EXPECT_EQ(xchg(from(MPI_DOUBLE), into(MPI_DOUBLE, MPI_DOUBLE), comm), MPI_SUCCESS);
  EXPECT_EQ(recv, (std::array<double, 4>{2, -1, 1, -1}));
}

INSTANTIATE_TEST_SUITE_P(Forms, NeighborXchgwTest, testing::ValuesIn(kForms), name_of_form);

/// Columns of a square array for both neighbors of a ring.
struct Columns {
  static constexpr int kRows = 200;

  Columns() { std::iota(send.begin(), send.end(), 1000.0 * world_rank()); }

  [[nodiscard]] static CommittedType type() {
    return CommittedType([](MPI_Datatype* made) { return MPI_Type_vector(kRows, 1, 2, MPI_DOUBLE, made); });
  }
  [[nodiscard]] TypedBlocks from(MPI_Datatype column) {
    return {send.data(), {1, 1}, {0, sizeof(double)}, {column, column}};
  }
  [[nodiscard]] TypedBlocks into(MPI_Datatype column) {
    return {recv.data(), {1, 1}, {sizeof(double), 0}, {column, column}};
  }
  [[nodiscard]] bool arrived() const {
    for (int row = 0; row < kRows; ++row) {
      const auto i = static_cast<std::size_t>(2 * row);
      if (recv[i] != 1000.0 * left_of(world_rank()) + 2 * row) return false;
      if (recv[i + 1] != 1000.0 * right_of(world_rank()) + 2 * row + 1) return false;
    }
    return true;
  }

  std::array<double, 2 * kRows> send{};
  std::array<double, 2 * kRows> recv{};
};

/// So many new types that some get the handles of freed ones.
void reuse_handles_of_types() {
  std::vector<CommittedType> types;
  for (int length = 1; length <= 20; ++length)
    types.emplace_back([length](MPI_Datatype* type) { return MPI_Type_contiguous(length, MPI_SHORT, type); });
}

TEST(NeighborXchgw, TypesMayBeFreedOnceTheExchangeIsStarted) {
  const Comm comm = ring();
  Columns columns;
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const CommittedType type = Columns::type();
    ASSERT_EQ(start_xchgw(columns.from(type), columns.into(type), comm, &request), MPI_SUCCESS);
  }
  reuse_handles_of_types();
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_TRUE(columns.arrived());
}

TEST(NeighborXchgw, TypesMayBeFreedOnceAPersistentExchangeIsMade) {
  const Comm comm = ring();
  Columns columns;
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const CommittedType type = Columns::type();
    ASSERT_EQ(make_xchgw(columns.from(type), columns.into(type), comm, &request), MPI_SUCCESS);
  }
  reuse_handles_of_types();
  for (int i = 0; i < 3; ++i) {
    columns.recv.fill(-1);
    ASSERT_EQ(MPI_Start(&request), MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(columns.arrived());
  }
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
}

// On one communicator, so that each call meets the plans of the others.
TEST(NeighborXchgw, CallsThatDifferInOneArgumentOnlyAreDifferent) {
  const Comm comm = ring();
  const CommittedType apart([](MPI_Datatype* type) { return MPI_Type_vector(2, 1, 2, MPI_INT, type); });
  std::array<int, 8> send{};
  std::iota(send.begin(), send.end(), 100 * world_rank());
  const int right = 100 * right_of(world_rank());
  const TypedBlocks to_left_only{send.data(), {0, 1}, {0, 0}, {MPI_INT, MPI_INT}};
  const auto received = [&](int count, MPI_Aint from, MPI_Datatype type) {
    TypedBlocks sent = to_left_only;
    sent.counts[1] = count;
    sent.displs[1] = from;
    sent.types[1] = type;
    std::vector<int> into(2, -1);
    EXPECT_EQ(xchgw(sent, {into.data(), {type == apart ? 2 : count, 0}, {0, 0}, {MPI_INT, MPI_INT}}, comm),
              MPI_SUCCESS);
    return into;
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(received(1, 0, MPI_INT), (std::vector{right, -1}));
    EXPECT_EQ(received(1, 3 * sizeof(int), MPI_INT), (std::vector{right + 3, -1})) << "displacement";
    EXPECT_EQ(received(2, 3 * sizeof(int), MPI_INT), (std::vector{right + 3, right + 4})) << "count";
    EXPECT_EQ(received(1, 3 * sizeof(int), apart), (std::vector{right + 3, right + 5})) << "type";
  }
}

bool is_set(const char* variable, const char* value) {
  const char* const set = std::getenv(variable);
  return set != nullptr && std::string(set) == value;
}

// Short blocks within a node: longer ones, and those over a network, may take memory when they come early.
TEST(NeighborXchgw, AllocatesNothingOnceItHasRun) {
  if (is_set("FAB_CHECK", "1")) GTEST_SKIP() << "calls that are compared have words";
  if (!is_set("FAB_LOCAL", "on")) GTEST_SKIP() << "a matter of the provider";
  const Comm comm = ring();
  const CommittedType type([](MPI_Datatype* made) { return MPI_Type_vector(3, 1, 2, MPI_INT, made); });
  std::array<int, 6> send{};
  send.fill(world_rank());
  std::array<int, 6> recv{};
  const TypedBlocks from{send.data(), {1, 1}, {0, sizeof(int)}, {type, type}};
  const TypedBlocks into{recv.data(), {1, 1}, {0, sizeof(int)}, {type, type}};
  for (int i = 0; i < 3; ++i) ASSERT_EQ(xchgw(from, into, comm), MPI_SUCCESS);
  EXPECT_EQ(fewest_allocations([&] {
              for (int i = 0; i < 20; ++i) ASSERT_EQ(xchgw(from, into, comm), MPI_SUCCESS);
            }),
            0u);
  const int right = right_of(world_rank());
  const int left = left_of(world_rank());
  EXPECT_EQ(recv, (std::array{right, left, right, left, right, left}));
}

// Rank 0 hears of all others, each with as many integers as its rank says; it sends nothing.
TEST(NeighborXchgw, RanksOfAGraphMayOnlySendOrOnlyReceive) {
  const int self = world_rank();
  std::vector<int> others(static_cast<std::size_t>(world_size() - 1));
  std::iota(others.begin(), others.end(), 1);
  const int root = 0;
  MPI_Comm handle = MPI_COMM_NULL;
  ASSERT_EQ(
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, self == 0 ? world_size() - 1 : 0, others.data(), MPI_UNWEIGHTED,
                                     self == 0 ? 0 : 1, &root, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &handle),
      MPI_SUCCESS);
  const Comm comm(handle);
  const std::vector<int> mine(static_cast<std::size_t>(self), self);
  std::vector<int> theirs(static_cast<std::size_t>(world_size() * world_size()), -1);
  TypedBlocks recv{.buffer = theirs.data()};
  for (const int rank : others) {
    recv.counts.push_back(rank);
    recv.displs.push_back(static_cast<MPI_Aint>(sizeof(int)) * rank * world_size());
    recv.types.push_back(MPI_INT);
  }
  const int code = self == 0 ? MPI_Neighbor_xchgw(nullptr, nullptr, nullptr, nullptr, theirs.data(), recv.counts.data(),
                                                  recv.displs.data(), recv.types.data(), comm)
                             : xchgw({const_cast<int*>(mine.data()), {self}, {0}, {MPI_INT}}, {}, comm);
  ASSERT_EQ(code, MPI_SUCCESS);
  if (self != 0) return;
  for (const int rank : others)
    for (int i = 0; i < world_size(); ++i)
      EXPECT_EQ(theirs[static_cast<std::size_t>(rank * world_size() + i)], i < rank ? rank : -1);
}

/// Arguments that are right, for one of them to be made wrong; and what fab says of it.
class NeighborXchgwErrorTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(xchgw(good(send_.data()), good(recv_.data()), comm_), MPI_SUCCESS); }

  static TypedBlocks good(int* buffer) { return {buffer, {1, 1}, {0, sizeof(int)}, {MPI_INT, MPI_INT}}; }

  /// The code, where the log has the text.
  int refused(const TypedBlocks& send, const TypedBlocks& recv, const std::string& text) {
    testing::internal::CaptureStderr();
    const int code = xchgw(send, recv, comm_);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("MPI_Neighbor_xchgw: " + text), std::string::npos) << said;
    return code;
  }
  int refused_send(const std::function<void(TypedBlocks&)>& spoil, const std::string& text) {
    TypedBlocks send = good(send_.data());
    spoil(send);
    return refused(send, good(recv_.data()), text);
  }
  int refused_recv(const std::function<void(TypedBlocks&)>& spoil, const std::string& text) {
    TypedBlocks recv = good(recv_.data());
    spoil(recv);
    return refused(good(send_.data()), recv, text);
  }

  const Comm comm_ = returning_ring();
  std::array<int, 2> send_{};
  std::array<int, 2> recv_{};
};

TEST_F(NeighborXchgwErrorTest, NamesArgumentValueAndRange) {
  EXPECT_EQ(refused_send([](TypedBlocks& b) { b.counts[1] = -3; }, "sendcounts[1] is -3; valid is 0 or more"),
            MPI_ERR_COUNT);
  EXPECT_EQ(refused_recv([](TypedBlocks& b) { b.counts[0] = -1; }, "recvcounts[0] is -1; valid is 0 or more"),
            MPI_ERR_COUNT);
  EXPECT_EQ(refused_send([](TypedBlocks& b) { b.types[1] = MPI_DATATYPE_NULL; },
                         "sendtypes[1]: the datatype is MPI_DATATYPE_NULL"),
            MPI_ERR_TYPE);
  EXPECT_EQ(refused_recv([](TypedBlocks& b) { b.types[0] = MPI_DATATYPE_NULL; },
                         "recvtypes[0]: the datatype is MPI_DATATYPE_NULL"),
            MPI_ERR_TYPE);
  EXPECT_EQ(refused_send([](TypedBlocks& b) { b.buffer = nullptr; }, "sendbuf is a null pointer"), MPI_ERR_BUFFER);
  EXPECT_EQ(refused_recv([](TypedBlocks& b) { b.buffer = nullptr; }, "recvbuf is a null pointer"), MPI_ERR_BUFFER);
  EXPECT_EQ(
      refused_recv([](TypedBlocks& b) { b.buffer = MPI_IN_PLACE; }, "recvbuf is MPI_IN_PLACE; only sendbuf may be"),
      MPI_ERR_BUFFER);
  EXPECT_EQ(refused_send([](TypedBlocks& b) { b.counts = std::vector<int>(); }, "sendcounts is a null pointer"),
            MPI_ERR_ARG);
  EXPECT_EQ(refused_recv([](TypedBlocks& b) { b.displs = std::vector<MPI_Aint>(); }, "rdispls is a null pointer"),
            MPI_ERR_ARG);
  EXPECT_EQ(refused_send([](TypedBlocks& b) { b.types = std::vector<MPI_Datatype>(); }, "sendtypes is a null pointer"),
            MPI_ERR_ARG);
}

TEST_F(NeighborXchgwErrorTest, ATypeMustBeCommittedAlsoWithoutElements) {
  MPI_Datatype uncommitted = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_contiguous(2, MPI_INT, &uncommitted), MPI_SUCCESS);
  const auto spoil = [&](TypedBlocks& blocks) {
    blocks.types[1] = uncommitted;
    blocks.counts[1] = 0;
  };
  EXPECT_EQ(refused_send(spoil, "sendtypes[1]: the datatype is not committed"), MPI_ERR_TYPE);
  EXPECT_EQ(MPI_Type_free(&uncommitted), MPI_SUCCESS);
}

TEST_F(NeighborXchgwErrorTest, OtherFormsNeedARequestAndATopology) {
  const TypedBlocks send = good(send_.data());
  const TypedBlocks recv = good(recv_.data());
  EXPECT_EQ(start_xchgw(send, recv, comm_, nullptr), MPI_ERR_ARG);
  EXPECT_EQ(make_xchgw(send, recv, comm_, nullptr), MPI_ERR_ARG);
  MPI_Comm handle = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &handle), MPI_SUCCESS);
  const Comm bare(handle);
  ASSERT_EQ(MPI_Comm_set_errhandler(bare, MPI_ERRORS_RETURN), MPI_SUCCESS);
  EXPECT_EQ(xchgw(send, recv, bare), MPI_ERR_TOPOLOGY);
}

}  // namespace
}  // namespace fab::test
