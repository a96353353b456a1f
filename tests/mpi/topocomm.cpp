// fab/topocomm.h: the proposal's C++ classes, and its figures 2 to 4, which have grids of 3 x 3 ranks.
#include <fab/topocomm.h>

#include <algorithm>
#include <array>

#include "communicators.h"

namespace fab::test {
namespace {

using mpi::Cartcomm;
using mpi::Graphcomm;
using mpi::Topocomm;

Comm ring() { return cartesian({world_size()}, {1}); }
int next() { return (world_rank() + 1) % world_size(); }
int previous() { return (world_rank() + world_size() - 1) % world_size(); }

TEST(Topocomm, ExchangesInAllForms) {
  const Comm comm = ring();
  const Topocomm topo(comm);
  const std::array<int, 2> send{2 * world_rank(), 2 * world_rank() + 1};
  const std::array<int, 2> expected{2 * next() + 1, 2 * previous()};
  const std::array<int, 2> counts{1, 1};
  const std::array<int, 2> displs{0, 1};
  const auto expect_from = [&](const auto& exchange) {
    std::array<int, 2> recv{-1, -1};
    exchange(recv.data());
    EXPECT_EQ(recv, expected);
  };
  const auto wait = [](MPI_Request request) { EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS); };
  const auto start = [](MPI_Request request) {
    EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  };
  expect_from([&](int* recv) { topo.Neighbor_xchg(send.data(), 1, MPI_INT, recv, 1, MPI_INT); });
  expect_from([&](int* recv) { wait(topo.Ineighbor_xchg(send.data(), 1, MPI_INT, recv, 1, MPI_INT)); });
  expect_from([&](int* recv) { start(topo.Neighbor_xchg_init(send.data(), 1, MPI_INT, recv, 1, MPI_INT)); });
  expect_from([&](int* recv) {
    topo.Neighbor_xchgv(send.data(), counts.data(), displs.data(), MPI_INT, recv, counts.data(), displs.data(),
                        MPI_INT);
  });
  expect_from([&](int* recv) {
    wait(topo.Ineighbor_xchgv(send.data(), counts.data(), displs.data(), MPI_INT, recv, counts.data(), displs.data(),
                              MPI_INT));
  });
  expect_from([&](int* recv) {
    start(topo.Neighbor_xchgv_init(send.data(), counts.data(), displs.data(), MPI_INT, recv, counts.data(),
                                   displs.data(), MPI_INT));
  });
}

TEST(Topocomm, CartesianOnesShift) {
  const Comm comm = ring();
  const Cartcomm cart(comm);
  const int mine = world_rank();
  int theirs = -1;
  cart.Shift_xchg(&mine, 1, MPI_INT, &theirs, 1, MPI_INT, 0, 1);
  EXPECT_EQ(theirs, previous());
  MPI_Request request = cart.Ishift_xchg(&mine, 1, MPI_INT, &theirs, 1, MPI_INT, 0, -1);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(theirs, next());
  theirs = mine;
  request = cart.Shift_xchg_init(MPI_IN_PLACE, 1, MPI_INT, &theirs, 1, MPI_INT, 0, 1);
  EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(theirs, previous());
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
}

TEST(Topocomm, TellsTheNeighborsOfGraphs) {
  std::vector<int> indices;
  std::vector<int> edges;
  for (int rank = 0; rank < world_size(); ++rank) {
    indices.push_back(2 * (rank + 1));
    edges.push_back((rank + 1) % world_size());
    edges.push_back((rank + world_size() - 1) % world_size());
  }
  MPI_Comm made = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Graph_create(MPI_COMM_WORLD, world_size(), indices.data(), edges.data(), 0, &made), MPI_SUCCESS);
  const Comm comm(made);
  const Graphcomm graph(comm);
  std::array<int, 2> neighbors{-1, -1};
  EXPECT_EQ(graph.Get_neighbors_count(world_rank()), 2);
  EXPECT_EQ(graph.Neighbors_count(world_rank()), 2);
  graph.Get_neighbors(world_rank(), 2, neighbors.data());
  EXPECT_EQ(neighbors, (std::array<int, 2>{next(), previous()}));
  EXPECT_EQ(graph.Neighbors(world_rank()), (std::vector<int>{next(), previous()}));
}

TEST(Topocomm, ThrowsWhatTheErrorHandlerLetsReturn) {
  MPI_Comm made = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &made), MPI_SUCCESS);
  const Comm without_topology(made);
  ASSERT_EQ(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), MPI_SUCCESS);
  const Topocomm world(made);
  try {
    static_cast<void>(world.Neighbors_count(0));
    FAIL() << "no exception";
  } catch (const mpi::Exception& exception) {
    EXPECT_EQ(exception.Get_error_class(), MPI_ERR_TOPOLOGY);
    EXPECT_STREQ(exception.what(), exception.Get_error_string());
  }
  const Comm comm = ring();
  ASSERT_EQ(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), MPI_SUCCESS);
  int value = 0;
  EXPECT_THROW(Cartcomm(comm).Shift_xchg(MPI_IN_PLACE, 1, MPI_INT, &value, 1, MPI_INT, 1, 1), mpi::Exception);
}

/// A grid of 3 x 3 ranks, and what rank r sends in block i: 10 r + i.
class FiguresTest : public testing::Test {
 protected:
  void SetUp() override {
    if (world_size() != 9) GTEST_SKIP() << "the figures have 9 ranks";
  }

  static std::vector<int> exchanged(const Topocomm& topo) {
    const auto count = static_cast<std::size_t>(topo.Get_neighbors_count(world_rank()));
    std::vector<int> send;
    for (std::size_t i = 0; i < count; ++i) send.push_back(10 * world_rank() + static_cast<int>(i));
    std::vector<int> recv(count, -1);
    topo.Neighbor_xchg(send.data(), 1, MPI_INT, recv.data(), 1, MPI_INT);
    return recv;
  }
};

// Rank 4, in the middle, has the neighbors 7, 1, 5, 3; its block meets theirs of the opposite direction.
TEST_F(FiguresTest, Figure2ExchangesFromTheMiddle) {
  const Comm comm = cartesian({3, 3}, {0, 0});
  const Topocomm topo(comm);
  EXPECT_EQ(topo.Neighbors(4), (std::vector<int>{7, 1, 5, 3}));
  const std::vector<int> recv = exchanged(topo);
  if (world_rank() == 4) {
    EXPECT_EQ(recv, (std::vector<int>{70, 10, 52, 32}));
  }
  if (world_rank() == 7) {
    EXPECT_EQ(recv.front(), 40);
  }
}

// Rank 8, in a corner: two blocks at the borders of a grid that is not periodic, four where it is.
TEST_F(FiguresTest, Figure3ExchangesFromACorner) {
  const Comm open = cartesian({3, 3}, {0, 0});
  EXPECT_EQ(Topocomm(open).Neighbors(8), (std::vector<int>{5, 7}));
  const std::vector<int> at_borders = exchanged(Topocomm(open));
  if (world_rank() == 8) {
    EXPECT_EQ(at_borders, (std::vector<int>{50, 71}));
  }
  const Comm torus = cartesian({3, 3}, {1, 1});
  EXPECT_EQ(Topocomm(torus).Neighbors(8), (std::vector<int>{2, 5, 6, 7}));
  const std::vector<int> around = exchanged(Topocomm(torus));
  if (world_rank() == 8) {
    EXPECT_EQ(around, (std::vector<int>{21, 50, 63, 72}));
  }
}

// In the second dimension by -1, on a single buffer.
TEST_F(FiguresTest, Figure4ShiftsRows) {
  for (const int periodic : {0, 1}) {
    const Comm comm = cartesian({3, 3}, {periodic, periodic});
    int value = world_rank();
    Cartcomm(comm).Shift_xchg(MPI_IN_PLACE, 1, MPI_INT, &value, 1, MPI_INT, 1, -1);
    const int column = world_rank() % 3;
    const int from = column < 2 ? world_rank() + 1 : (periodic != 0 ? world_rank() - 2 : world_rank());
    EXPECT_EQ(value, from);
  }
}

}  // namespace
}  // namespace fab::test
