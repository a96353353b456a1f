// MPI_Neighbor_xchg on every Cartesian grid of the job's ranks, against an oracle and against MPI's own blocking
// exchange (whose non-blocking one is wrong in periodic dimensions of size 1 and 2 in Open MPI 4.1).
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "communicators.h"

namespace fab::test {
namespace {

struct Grid {
  std::vector<int> dims;
  std::vector<int> periods;
};

void for_each_shape(int size, std::size_t dimensions, std::vector<int>& dims,
                    const std::function<void(const std::vector<int>&)>& visit) {
  if (dims.size() + 1 == dimensions) {
    dims.push_back(size);
    visit(dims);
    dims.pop_back();
    return;
  }
  for (int extent = 1; extent <= size; ++extent) {
    if (size % extent != 0) continue;
    dims.push_back(extent);
    for_each_shape(size / extent, dimensions, dims, visit);
    dims.pop_back();
  }
}

/// All grids of 1 to 3 dimensions that hold exactly the job's ranks, with every periodic mask.
std::vector<Grid> all_grids() {
  std::vector<Grid> grids;
  for (std::size_t dimensions = 1; dimensions <= 3; ++dimensions) {
    std::vector<int> dims;
    for_each_shape(world_size(), dimensions, dims, [&](const std::vector<int>& shape) {
      for (unsigned mask = 0; mask < 1u << dimensions; ++mask) {
        Grid grid{shape, {}};
        for (std::size_t d = 0; d < dimensions; ++d) grid.periods.push_back((mask >> d & 1u) != 0 ? 1 : 0);
        grids.push_back(grid);
      }
    });
  }
  return grids;
}

/// The rank one step away, computed by hand in row-major order.
std::optional<int> step(const Grid& grid, int rank, std::size_t dimension, int direction) {
  int stride = 1;
  for (std::size_t d = dimension + 1; d < grid.dims.size(); ++d) stride *= grid.dims[d];
  const int extent = grid.dims[dimension];
  const int at = rank / stride % extent;
  const int to = at + direction;
  if ((to < 0 || to >= extent) && grid.periods[dimension] == 0) return std::nullopt;
  return rank + ((to + extent) % extent - at) * stride;
}

/// A block of the exchange: where it goes, and the standard's slot for the same direction.
struct Direction {
  std::size_t dimension;
  int sign;
  int neighbor;

  [[nodiscard]] std::size_t slot() const { return 2 * dimension + (sign > 0 ? 1 : 0); }
};

std::vector<Direction> directions(const Grid& grid, int rank) {
  std::vector<Direction> list;
  for (std::size_t d = 0; d < grid.dims.size(); ++d)
    for (const int sign : {1, -1})
      if (const auto neighbor = step(grid, rank, d, sign)) list.push_back({d, sign, *neighbor});
  return list;
}

/// What `rank` sends in a direction.
int value(int rank, const Direction& direction, int element) {
  return ((rank * 8 + static_cast<int>(direction.slot())) << 16) + element;
}

std::vector<int> sent_by(const Grid& grid, int rank, int count) {
  std::vector<int> values;
  for (const Direction& direction : directions(grid, rank))
    for (int i = 0; i < count; ++i) values.push_back(value(rank, direction, i));
  return values;
}

/// What leaves in direction +d arrives in the receiver's -d block.
std::vector<int> expected_at(const Grid& grid, int rank, int count) {
  std::vector<int> values;
  for (const Direction& direction : directions(grid, rank))
    for (int i = 0; i < count; ++i)
      values.push_back(value(direction.neighbor, {direction.dimension, -direction.sign, rank}, i));
  return values;
}

/// The same exchange by MPI_Neighbor_alltoall, whose blocks have places for missing neighbors.
std::vector<int> exchanged_by_mpi(const Grid& grid, MPI_Comm comm, const std::vector<int>& send, int count) {
  const auto length = static_cast<std::size_t>(count);
  const std::vector<Direction> blocks = directions(grid, rank_in(comm));
  std::vector<int> standard_send(2 * grid.dims.size() * length, -1);
  std::vector<int> standard_recv(standard_send.size(), -1);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    std::copy_n(&send[i * length], length, &standard_send[blocks[i].slot() * length]);
  EXPECT_EQ(MPI_Neighbor_alltoall(standard_send.data(), count, MPI_INT, standard_recv.data(), count, MPI_INT, comm),
            MPI_SUCCESS);
  std::vector<int> recv(send.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    std::copy_n(&standard_recv[blocks[i].slot() * length], length, &recv[i * length]);
  return recv;
}

/// Runs `check` with a communicator for each grid; says which one when something fails.
void on_all_grids(const std::function<void(const Grid&, MPI_Comm)>& check) {
  for (const Grid& grid : all_grids()) {
    SCOPED_TRACE("dims " + testing::PrintToString(grid.dims) + " periods " + testing::PrintToString(grid.periods));
    const Comm comm = cartesian(grid.dims, grid.periods);
    check(grid, comm);
  }
}

TEST(CartesianTest, BlocksArriveFromTheOppositeDirection) {
  on_all_grids([](const Grid& grid, MPI_Comm comm) {
    const int rank = rank_in(comm);
    for (const int count : {1, 3}) {
      const std::vector<int> send = sent_by(grid, rank, count);
      std::vector<int> recv(send.size(), -1);
      ASSERT_EQ(MPI_Neighbor_xchg(send.data(), count, MPI_INT, recv.data(), count, MPI_INT, comm), MPI_SUCCESS);
      EXPECT_EQ(recv, expected_at(grid, rank, count));
      EXPECT_EQ(recv, exchanged_by_mpi(grid, comm, send, count));
    }
  });
}

TEST(CartesianTest, NonBlockingFormGivesTheSame) {
  on_all_grids([](const Grid& grid, MPI_Comm comm) {
    const int rank = rank_in(comm);
    const int count = 2;
    const std::vector<int> send = sent_by(grid, rank, count);
    std::vector<int> recv(send.size(), -1);
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Ineighbor_xchg(send.data(), count, MPI_INT, recv.data(), count, MPI_INT, comm, &request),
              MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_EQ(recv, expected_at(grid, rank, count));
  });
}

TEST(CartesianTest, InPlaceReplacesTheBlocks) {
  on_all_grids([](const Grid& grid, MPI_Comm comm) {
    const int rank = rank_in(comm);
    const int count = 5;
    std::vector<int> buffer = sent_by(grid, rank, count);
    ASSERT_EQ(MPI_Neighbor_xchg(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, buffer.data(), count, MPI_INT, comm), MPI_SUCCESS);
    EXPECT_EQ(buffer, expected_at(grid, rank, count));
  });
}

/// What a rank gives one neighbour, or gets from one.
struct Elements {
  int count;
  MPI_Datatype type;
};

/// Two blocks of so many bytes, by which the rank and the place are told apart.
std::vector<unsigned char> bytes_of(int rank, int block_bytes) {
  std::vector<unsigned char> bytes(2 * static_cast<std::size_t>(block_bytes));
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(37 * rank));
  return bytes;
}

void expect_exchanged(const Elements& sent, const Elements& received, int block_bytes, bool in_place, MPI_Comm comm) {
  const std::vector<unsigned char> send = bytes_of(world_rank(), block_bytes);
  std::vector<unsigned char> recv = in_place ? send : std::vector<unsigned char>(send.size());
  recv.insert(recv.end(), 64, 0xee);
  std::vector<unsigned char> expected = recv;
  const std::vector<unsigned char> right = bytes_of(right_of(world_rank()), block_bytes);
  const std::vector<unsigned char> left = bytes_of(left_of(world_rank()), block_bytes);
  std::copy(right.begin() + block_bytes, right.end(), expected.begin());
  std::copy(left.begin(), left.begin() + block_bytes, expected.begin() + block_bytes);
  ASSERT_EQ(MPI_Neighbor_xchg(in_place ? MPI_IN_PLACE : send.data(), sent.count, sent.type, recv.data(), received.count,
                              received.type, comm),
            MPI_SUCCESS);
  EXPECT_EQ(recv, expected);
}

// A call that repeats finds its plan by its arguments (bindings/mpi/calls/repeating.h), so each of them must count.
TEST(CartesianTest, CallsThatDifferInOneArgumentOnlyAreDifferent) {
  const Comm comm = ring();
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    expect_exchanged({2, MPI_INT}, {2, MPI_INT}, 8, false, comm);
    expect_exchanged({1, MPI_INT}, {1, MPI_INT}, 4, false, comm);
    expect_exchanged({1, MPI_DOUBLE}, {2, MPI_INT}, 8, false, comm);
    expect_exchanged({2, MPI_INT}, {1, MPI_DOUBLE}, 8, false, comm);
    expect_exchanged({2, MPI_INT}, {8, MPI_BYTE}, 8, false, comm);
    expect_exchanged({2, MPI_SHORT}, {1, MPI_INT}, 4, false, comm);
    expect_exchanged({2, MPI_INT}, {2, MPI_INT}, 8, true, comm);
    expect_exchanged({0, MPI_INT}, {0, MPI_INT}, 0, false, comm);
  }
}

// The same for MPI_Neighbor_xchgv, whose arrays may have other numbers each time.
TEST(CartesianTest, VariedCallsThatDifferInOneNumberOnlyAreDifferent) {
  const Comm comm = ring();
  std::array<int, 2> sent_counts{}, sent_places{}, counts{}, places{};
  const std::array<int, 4> send = {10 * world_rank(), 10 * world_rank() + 1, 10 * world_rank() + 2,
                                   10 * world_rank() + 3};
  const int right = 10 * right_of(world_rank());
  const int left = 10 * left_of(world_rank());
  const auto received = [&](const void* from) {
    std::array<int, 4> recv{-1, -1, -1, -1};
    EXPECT_EQ(MPI_Neighbor_xchgv(from, sent_counts.data(), sent_places.data(), MPI_INT, recv.data(), counts.data(),
                                 places.data(), MPI_INT, comm),
              MPI_SUCCESS);
    return recv;
  };
  using Four = std::array<int, 4>;
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    sent_counts = {1, 1}, sent_places = {0, 1}, counts = {1, 1}, places = {0, 1};
    EXPECT_EQ(received(send.data()), (Four{right + 1, left, -1, -1}));
    places = {0, 2};
    EXPECT_EQ(received(send.data()), (Four{right + 1, -1, left, -1})) << "where it goes";
    sent_places = {3, 1};
    EXPECT_EQ(received(send.data()), (Four{right + 1, -1, left + 3, -1})) << "where it comes from";
    sent_counts = {1, 2}, counts = {2, 1};
    EXPECT_EQ(received(send.data()), (Four{right + 1, right + 2, left + 3, -1})) << "how many";
  }
}

TEST(CartesianTest, NeighborsOfEveryRankAreListed) {
  on_all_grids([](const Grid& grid, MPI_Comm comm) {
    for (int rank = 0; rank < size_of(comm); ++rank) {
      std::vector<int> expected;
      for (const Direction& direction : directions(grid, rank)) expected.push_back(direction.neighbor);
      int count = -1;
      ASSERT_EQ(MPI_Comm_neighbors_count(comm, rank, &count), MPI_SUCCESS);
      ASSERT_EQ(count, static_cast<int>(expected.size()));
      std::vector<int> neighbors(expected.size(), -1);
      ASSERT_EQ(MPI_Comm_neighbors(comm, rank, count, neighbors.data()), MPI_SUCCESS);
      EXPECT_EQ(neighbors, expected);
    }
  });
}

TEST(CartesianTest, NoMoreNeighborsAreWrittenThanAskedFor) {
  const Comm comm = ring();
  int neighbors[2] = {-7, -7};
  ASSERT_EQ(MPI_Comm_neighbors(comm, 0, 1, neighbors), MPI_SUCCESS);
  EXPECT_EQ(neighbors[0], right_of(0));
  EXPECT_EQ(neighbors[1], -7);
}

TEST(CartesianTest, SizesFromEagerToRendezvousArriveWhole) {
  const Comm comm = ring();
  const int rank = world_rank();
  for (const int count : {0, 1, 100, 1000, 4097, 16384, 100'000, 262'144}) {
    SCOPED_TRACE(count);
    const auto length = static_cast<std::size_t>(count);
    std::vector<int> send(2 * length);
    std::iota(send.begin(), send.end(), rank * 1'000'000);
    std::vector<int> recv(send.size() + 1, -1);
    ASSERT_EQ(MPI_Neighbor_xchg(send.data(), count, MPI_INT, recv.data(), count, MPI_INT, comm), MPI_SUCCESS);
    std::vector<int> expected(send.size() + 1, -1);
    std::iota(expected.begin(), expected.begin() + count, right_of(rank) * 1'000'000 + count);
    std::iota(expected.begin() + count, expected.end() - 1, left_of(rank) * 1'000'000);
    EXPECT_TRUE(recv == expected);
  }
}

TEST(CartesianTest, ZeroDimensionsMeanNoNeighbors) {
  MPI_Comm handle = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Cart_create(MPI_COMM_WORLD, 0, nullptr, nullptr, 0, &handle), MPI_SUCCESS);
  if (handle == MPI_COMM_NULL) return;  // all ranks but one are left over
  const Comm comm(handle);
  int count = -1;
  EXPECT_EQ(MPI_Comm_neighbors_count(comm, 0, &count), MPI_SUCCESS);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(MPI_Neighbor_xchg(nullptr, 1, MPI_INT, nullptr, 1, MPI_INT, comm), MPI_SUCCESS);
}

}  // namespace
}  // namespace fab::test
