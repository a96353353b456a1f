// Operations along a topology against MPI's neighbourhood collectives.
#include <algorithm>
#include <array>

#include "support.h"

namespace fab::test {
namespace {

std::size_t elements(int count, int blocks = 1) {
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(blocks);
}

Comm two_dimensional(bool periodic) {
  std::array<int, 2> dims{};
  EXPECT_EQ(MPI_Dims_create(world_size(), 2, dims.data()), MPI_SUCCESS);
  return cartesian({dims[0], dims[1]}, {periodic ? 1 : 0, 0});
}

/// Every rank has edges to the next two ranks, with weights.
Comm graph() {
  const std::array<int, 2> sources{left_of(world_rank()), left_of(left_of(world_rank()))};
  const std::array<int, 2> destinations{right_of(world_rank()), right_of(right_of(world_rank()))};
  const std::array<int, 2> weights{3, 4};
  MPI_Comm comm = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources.data(), weights.data(), 2, destinations.data(),
                                           weights.data(), MPI_INFO_NULL, 0, &comm),
            MPI_SUCCESS);
  return Comm(comm);
}

struct Neighbors {
  explicit Neighbors(MPI_Comm comm) {
    EXPECT_EQ(NBC_Comm_neighbors_count(comm, &in, &out, &weighted), NBC_OK);
    sources.resize(static_cast<std::size_t>(in));
    destinations.resize(static_cast<std::size_t>(out));
    EXPECT_EQ(NBC_Comm_neighbors(comm, in, sources.data(), MPI_UNWEIGHTED, out, destinations.data(), MPI_UNWEIGHTED),
              NBC_OK);
  }

  int in = -1;
  int out = -1;
  int weighted = -1;
  std::vector<int> sources;
  std::vector<int> destinations;
};

template <class Test>
void on_each_topology(Test&& test) {
  for (const bool periodic : {false, true}) {
    SCOPED_TRACE(periodic ? "periodic grid" : "grid");
    test(two_dimensional(periodic));
  }
  SCOPED_TRACE("graph");
  test(graph());
}

/// MPICH swaps the blocks of two edges between the same processes: 4.0 where they have no counts, 4.2 always.
bool mpi_swaps_blocks_of_edges() {
  const std::array<int, 2> ends{0, 0};
  MPI_Comm made = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 2, ends.data(), MPI_UNWEIGHTED, 2, ends.data(),
                                           MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
            MPI_SUCCESS);
  const Comm comm(made);
  const std::array<int, 2> sent{1, 2};
  const std::array<int, 2> counts{1, 1};
  const std::array<int, 2> places{0, 1};
  std::array<int, 2> came{};
  std::array<int, 2> came_by_counts{};
  EXPECT_EQ(MPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, came.data(), 1, MPI_INT, comm), MPI_SUCCESS);
  EXPECT_EQ(MPI_Neighbor_alltoallv(sent.data(), counts.data(), places.data(), MPI_INT, came_by_counts.data(),
                                   counts.data(), places.data(), MPI_INT, comm),
            MPI_SUCCESS);
  return came != sent || came_by_counts != sent;
}

/// Open MPI 4.1 mixes up the two blocks where both neighbours of a dimension are one process.
bool mpi_is_wrong_on(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  EXPECT_EQ(MPI_Topo_test(comm, &kind), MPI_SUCCESS);
  if (kind != MPI_CART) return world_size() == 1 && mpi_swaps_blocks_of_edges();
  std::array<int, 2> dims{};
  std::array<int, 2> periods{};
  std::array<int, 2> place{};
  EXPECT_EQ(MPI_Cart_get(comm, 2, dims.data(), periods.data(), place.data()), MPI_SUCCESS);
  return periods[0] != 0 && dims[0] <= 2;
}

TEST(NbcNeighbors, CollectivesAreThoseOfMpi) {
  on_each_topology([](const Comm& comm) {
    if (mpi_is_wrong_on(comm)) return;
    const Neighbors neighbors(comm);
    for_each_type_and_count([&](MPI_Datatype type, int count) {
      expect_same(
          type, elements(count), elements(count, neighbors.in),
          [&](void* send, void* recv) { return MPI_Neighbor_allgather(send, count, type, recv, count, type, comm); },
          [&](void* send, void* recv, NBC_Handle* handle) {
            return NBC_Ineighbor_allgather(send, count, type, recv, count, type, comm, handle);
          });
      const auto mpi = [&](void* send, void* recv) {
        return MPI_Neighbor_alltoall(send, count, type, recv, count, type, comm);
      };
      expect_same(type, elements(count, neighbors.out), elements(count, neighbors.in), mpi,
                  [&](void* send, void* recv, NBC_Handle* handle) {
                    return NBC_Ineighbor_alltoall(send, count, type, recv, count, type, comm, handle);
                  });
      expect_same(type, elements(count, neighbors.out), elements(count, neighbors.in), mpi,
                  [&](void* send, void* recv, NBC_Handle* handle) {
                    return NBC_Ineighbor_xchg(send, count, type, recv, count, type, comm, handle);
                  });
    });
  });
}

/// Blocks of different sizes in reverse order.
TEST(NbcNeighbors, VFormsAreThoseOfMpi) {
  on_each_topology([](const Comm& comm) {
    if (mpi_is_wrong_on(comm)) return;
    const Neighbors neighbors(comm);
    const Type gapped(gapped_integers());
    const int room = 3 * neighbors.in;
    std::vector<int> counts(neighbors.sources.size());
    std::vector<int> places(counts.size());
    std::vector<MPI_Aint> bytes(counts.size());
    const std::vector<MPI_Datatype> types(counts.size(), gapped);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts[i] = 2;
      places[i] = room - 3 * static_cast<int>(i + 1);
      bytes[i] = static_cast<MPI_Aint>(elements(places[i]) * extent_of(gapped));
    }
    expect_same(
        gapped, 2, elements(room),
        [&](void* send, void* recv) {
          return MPI_Neighbor_allgatherv(send, 2, gapped, recv, counts.data(), places.data(), gapped, comm);
        },
        [&](void* send, void* recv, NBC_Handle* handle) {
          return NBC_Ineighbor_allgatherv(send, 2, gapped, recv, counts.data(), places.data(), gapped, comm, handle);
        });
    const auto mpi = [&](void* send, void* recv) {
      return MPI_Neighbor_alltoallv(send, counts.data(), places.data(), gapped, recv, counts.data(), places.data(),
                                    gapped, comm);
    };
    expect_same(gapped, elements(room), elements(room), mpi, [&](void* send, void* recv, NBC_Handle* handle) {
      return NBC_Ineighbor_alltoallv(send, counts.data(), places.data(), gapped, recv, counts.data(), places.data(),
                                     gapped, comm, handle);
    });
    expect_same(gapped, elements(room), elements(room), mpi, [&](void* send, void* recv, NBC_Handle* handle) {
      return NBC_Ineighbor_xchgv(send, counts.data(), places.data(), gapped, recv, counts.data(), places.data(), gapped,
                                 comm, handle);
    });
    expect_same(gapped, elements(room), elements(room), mpi, [&](void* send, void* recv, NBC_Handle* handle) {
      return NBC_Ineighbor_alltoallw(send, counts.data(), bytes.data(), types.data(), recv, counts.data(), bytes.data(),
                                     types.data(), comm, handle);
    });
  });
}

/// The same blocks, by their addresses.
TEST(NbcNeighbors, DisplacementsMayBeAddresses) {
  on_each_topology([](const Comm& comm) {
    const Neighbors neighbors(comm);
    const Type gapped(gapped_integers());
    const auto blocks = static_cast<std::size_t>(std::max(neighbors.in, neighbors.out));
    Bytes send = random_bytes(blocks * 2 * extent_of(gapped));
    Bytes expected = random_bytes(blocks * 2 * extent_of(gapped));
    Bytes actual = expected;
    const std::vector<int> counts(blocks, 2);
    const std::vector<MPI_Datatype> types(blocks, gapped);
    std::vector<MPI_Aint> relative(blocks);
    std::vector<MPI_Aint> from(blocks);
    std::vector<MPI_Aint> into(blocks);
    for (std::size_t i = 0; i < blocks; ++i) {
      relative[i] = static_cast<MPI_Aint>(i * 2 * extent_of(gapped));
      ASSERT_EQ(MPI_Get_address(send.data() + relative[i], &from[i]), MPI_SUCCESS);
      ASSERT_EQ(MPI_Get_address(actual.data() + relative[i], &into[i]), MPI_SUCCESS);
    }
    NBC_Handle handle = stale_handle();
    ASSERT_EQ(NBC_Ineighbor_alltoallw(send.data(), counts.data(), relative.data(), types.data(), expected.data(),
                                      counts.data(), relative.data(), types.data(), comm, &handle),
              NBC_OK);
    ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
    ASSERT_EQ(NBC_Ineighbor_alltoallw(MPI_BOTTOM, counts.data(), from.data(), types.data(), MPI_BOTTOM, counts.data(),
                                      into.data(), types.data(), comm, &handle),
              NBC_OK);
    ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
    EXPECT_TRUE(actual == expected);
  });
}

/// What goes up comes from below, also where both neighbours are one process; borders keep their blocks.
TEST(NbcNeighbors, XchgFollowsDirections) {
  for (const int periodic : {0, 1}) {
    const Comm comm = cartesian({world_size()}, {periodic});
    const Neighbors neighbors(comm);
    const int rank = rank_in(comm);
    for (const bool in_place : {false, true}) {
      const std::array<int, 2> send{10 * rank, 10 * rank + 1};  // down, up
      std::array<int, 2> recv = in_place ? send : std::array{-1, -1};
      std::array<int, 2> expected = recv;
      if (neighbors.sources[0] != MPI_PROC_NULL) expected[0] = 10 * neighbors.sources[0] + 1;
      if (neighbors.sources[1] != MPI_PROC_NULL) expected[1] = 10 * neighbors.sources[1];
      NBC_Handle handle = stale_handle();
      ASSERT_EQ(
          NBC_Ineighbor_xchg(in_place ? MPI_IN_PLACE : send.data(), 1, MPI_INT, recv.data(), 1, MPI_INT, comm, &handle),
          NBC_OK);
      ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
      EXPECT_EQ(recv, expected);
    }
  }
}

TEST(NbcNeighbors, ShiftIsTheShiftOfMpi) {
  const Comm comm = two_dimensional(true);
  for (const int direction : {0, 1})
    for (const int displacement : {-2, 0, 1}) {
      int source = MPI_PROC_NULL;
      int destination = MPI_PROC_NULL;
      ASSERT_EQ(MPI_Cart_shift(comm, direction, displacement, &source, &destination), MPI_SUCCESS);
      expect_same(
          MPI_INT, 5, 5,
          [&](void* send, void* recv) {
            return MPI_Sendrecv(send, 5, MPI_INT, destination, 0, recv, 5, MPI_INT, source, 0, comm, MPI_STATUS_IGNORE);
          },
          [&](void* send, void* recv, NBC_Handle* handle) {
            return NBC_Icart_shift_xchg(send, 5, MPI_INT, recv, 5, MPI_INT, direction, displacement, comm, handle);
          });
      expect_same(
          MPI_INT, 0, 5,
          [&](void*, void* recv) {
            return MPI_Sendrecv_replace(recv, 5, MPI_INT, destination, 0, source, 0, comm, MPI_STATUS_IGNORE);
          },
          [&](void*, void* recv, NBC_Handle* handle) {
            return NBC_Icart_shift_xchg(MPI_IN_PLACE, 5, MPI_INT, recv, 5, MPI_INT, direction, displacement, comm,
                                        handle);
          });
    }
}

TEST(NbcNeighbors, AreListedInTheStandardsOrder) {
  const Comm grid = cartesian({world_size(), 1}, {0, 1});
  const int rank = rank_in(grid);
  const Neighbors neighbors(grid);
  const std::vector<int> expected = {rank > 0 ? rank - 1 : MPI_PROC_NULL,
                                     rank + 1 < world_size() ? rank + 1 : MPI_PROC_NULL, rank, rank};
  EXPECT_EQ(neighbors.sources, expected);
  EXPECT_EQ(neighbors.destinations, expected);
  EXPECT_EQ(neighbors.weighted, 0);

  const Comm weighted = graph();
  EXPECT_EQ(Neighbors(weighted).weighted, 1);
  std::array<int, 2> sources{};
  std::array<int, 2> destinations{};
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  ASSERT_EQ(NBC_Comm_neighbors(weighted, 2, sources.data(), in.data(), 2, destinations.data(), out.data()), NBC_OK);
  EXPECT_EQ(sources[0], left_of(world_rank()));
  EXPECT_EQ(destinations[0], right_of(world_rank()));
  EXPECT_EQ(in, (std::array{3, 4}));
  EXPECT_EQ(out, (std::array{3, 4}));
}

TEST(NbcNeighbors, AGraphKnowsItsOwn) {
  std::vector<int> index;
  std::vector<int> edges;
  for (int rank = 0; rank < world_size(); ++rank) {
    edges.insert(edges.end(), {left_of(rank), right_of(rank)});
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Comm comm = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Graph_create(MPI_COMM_WORLD, world_size(), index.data(), edges.data(), 0, &comm), MPI_SUCCESS);
  const Comm owner(comm);
  const Neighbors neighbors(owner);
  EXPECT_EQ(neighbors.sources, (std::vector<int>{left_of(world_rank()), right_of(world_rank())}));
  EXPECT_EQ(neighbors.destinations, neighbors.sources);
}

}  // namespace
}  // namespace fab::test
