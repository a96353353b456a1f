// Exchanges on random graphs and distributed graphs with self-loops and duplicate edges: the k-th edge from i to j
// meets the k-th entry of i in j's list.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <span>

#include "communicators.h"
#include "support/fill.h"

namespace fab::test {
namespace {

/// Neighbor lists of all ranks; equal on all ranks.
struct Lists {
  std::vector<std::vector<int>> sources;
  std::vector<std::vector<int>> destinations;
};

Lists random_graph(std::mt19937& random) {
  const auto size = static_cast<std::size_t>(world_size());
  Lists lists{.sources = std::vector<std::vector<int>>(size), .destinations = {}};
  std::uniform_int_distribution<std::size_t> any(0, size - 1);
  const std::size_t edges = std::uniform_int_distribution<std::size_t>(0, 3 * size)(random);
  for (std::size_t e = 0; e < edges; ++e) {
    const std::size_t i = any(random);
    const std::size_t j = any(random);
    lists.sources[i].push_back(static_cast<int>(j));
    if (i != j) lists.sources[j].push_back(static_cast<int>(i));
  }
  for (auto& list : lists.sources) std::shuffle(list.begin(), list.end(), random);
  lists.destinations = lists.sources;
  return lists;
}

Lists random_distributed_graph(std::mt19937& random) {
  const auto size = static_cast<std::size_t>(world_size());
  Lists lists{std::vector<std::vector<int>>(size), std::vector<std::vector<int>>(size)};
  std::uniform_int_distribution<std::size_t> any(0, size - 1);
  const std::size_t edges = std::uniform_int_distribution<std::size_t>(0, 5 * size)(random);
  for (std::size_t e = 0; e < edges; ++e) {
    const std::size_t from = any(random);
    const std::size_t to = any(random);
    lists.destinations[from].push_back(static_cast<int>(to));
    lists.sources[to].push_back(static_cast<int>(from));
  }
  for (auto& list : lists.destinations) std::shuffle(list.begin(), list.end(), random);
  for (auto& list : lists.sources) std::shuffle(list.begin(), list.end(), random);
  return lists;
}

Comm graph_communicator(const Lists& lists) {
  std::vector<int> index;
  std::vector<int> edges{};
  for (const auto& list : lists.destinations) {
    edges.insert(edges.end(), list.begin(), list.end());
    index.push_back(static_cast<int>(edges.size()));
  }
  edges.push_back(0);  // so that there is an address
  MPI_Comm comm = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Graph_create(MPI_COMM_WORLD, world_size(), index.data(), edges.data(), 0, &comm), MPI_SUCCESS);
  return Comm(comm);
}

Comm distributed_graph_communicator(const Lists& lists) {
  std::vector<int> sources = lists.sources[static_cast<std::size_t>(world_rank())];
  std::vector<int> destinations = lists.destinations[static_cast<std::size_t>(world_rank())];
  const auto in = static_cast<int>(sources.size());
  const auto out = static_cast<int>(destinations.size());
  sources.push_back(0);
  destinations.push_back(0);
  MPI_Comm comm = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources.data(), MPI_UNWEIGHTED, out, destinations.data(),
                                           MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
            MPI_SUCCESS);
  return Comm(comm);
}

/// An edge has the same key at both of its ends.
struct Key {
  int from;
  int to;
  int repetition;
};

std::vector<Key> outgoing(const Lists& lists, int rank) {
  std::vector<Key> keys;
  std::map<int, int> seen;
  for (const int to : lists.destinations[static_cast<std::size_t>(rank)]) keys.push_back({rank, to, seen[to]++});
  return keys;
}

std::vector<Key> incoming(const Lists& lists, int rank) {
  std::vector<Key> keys;
  std::map<int, int> seen;
  for (const int from : lists.sources[static_cast<std::size_t>(rank)]) keys.push_back({from, rank, seen[from]++});
  return keys;
}

/// The same at both ends of an edge.
std::uint64_t number_of(const Key& key, unsigned seed) {
  std::uint64_t number = seed;
  for (const int each : {key.from, key.to, key.repetition}) number = hash(number + static_cast<unsigned>(each));
  return number;
}

/// Bytes along an edge: none for a third of them, otherwise up to `most`, small ones more often than large ones.
int bytes_along(const Key& key, unsigned seed, int most) {
  const std::uint64_t number = number_of(key, seed);
  if (number % 3 == 0) return 0;
  const double fraction = static_cast<double>(number / 3 % 10'000) / 10'000;
  return static_cast<int>(std::exp2(fraction * std::log2(most)));
}

/// The blocks of one side, laid out with gaps between them, in random order.
struct Blocks {
  std::vector<int> counts;
  std::vector<int> displacements;
  std::size_t bytes = 0;
};

constexpr int kGap = 8;

Blocks lay_out(const std::vector<Key>& keys, unsigned seed, int most) {
  Blocks blocks;
  blocks.displacements.resize(keys.size());
  for (const Key& key : keys) blocks.counts.push_back(bytes_along(key, seed, most));
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(seed + static_cast<unsigned>(keys.size()));
  std::shuffle(order.begin(), order.end(), random);
  int at = kGap;
  for (const std::size_t i : order) {
    blocks.displacements[i] = at;
    at += blocks.counts[i] + kGap;
  }
  blocks.bytes = static_cast<std::size_t>(at);
  return blocks;
}

/// The memory of one side: each block full of its edge's own bytes, the gaps of 0xEE.
std::vector<unsigned char> filled(const std::vector<Key>& keys, const Blocks& blocks, unsigned seed) {
  std::vector<unsigned char> memory(blocks.bytes, 0xEE);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto block = std::span(memory).subspan(static_cast<std::size_t>(blocks.displacements[i]),
                                                 static_cast<std::size_t>(blocks.counts[i]));
    fill_by_chance(std::as_writable_bytes(block), number_of(keys[i], seed + 1));
  }
  return memory;
}

/// One exchange with random sizes, blocking or not; compares all of the receive memory, gaps included.
void exchange(const Lists& lists, MPI_Comm comm, unsigned seed, int most, bool blocking) {
  const std::vector<Key> out = outgoing(lists, world_rank());
  const std::vector<Key> in = incoming(lists, world_rank());
  Blocks send = lay_out(out, seed, most);
  Blocks recv = lay_out(in, seed, most);
  const std::vector<unsigned char> outgoing_memory = filled(out, send, seed);
  std::vector<unsigned char> memory(recv.bytes, 0xEE);
  const std::vector<unsigned char> expected = filled(in, recv, seed);
  if (blocking) {
    ASSERT_EQ(MPI_Neighbor_xchgv(outgoing_memory.data(), send.counts.data(), send.displacements.data(), MPI_BYTE,
                                 memory.data(), recv.counts.data(), recv.displacements.data(), MPI_BYTE, comm),
              MPI_SUCCESS);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(
        MPI_Ineighbor_xchgv(outgoing_memory.data(), send.counts.data(), send.displacements.data(), MPI_BYTE,
                            memory.data(), recv.counts.data(), recv.displacements.data(), MPI_BYTE, comm, &request),
        MPI_SUCCESS);
    // The arrays may be reused as soon as the call has returned.
    for (auto* array : {&send.counts, &send.displacements, &recv.counts, &recv.displacements})
      std::fill(array->begin(), array->end(), -1);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  EXPECT_TRUE(memory == expected);
}

void exchange_often(const Lists& lists, MPI_Comm comm, unsigned seed) {
  exchange(lists, comm, seed, 100, true);
  exchange(lists, comm, seed, 100, false);
  exchange(lists, comm, seed + 1, 20'000, true);
  exchange(lists, comm, seed + 2, 200'000, false);
}

constexpr unsigned kGraphs = 12;

TEST(GraphTest, EdgesOfRandomGraphsMeet) {
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const Lists lists = random_graph(random);
    const Comm comm = graph_communicator(lists);
    exchange_often(lists, comm, seed * 100);
  }
}

TEST(GraphTest, EdgesOfRandomDistributedGraphsMeet) {
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(1000 + seed);
    const Lists lists = random_distributed_graph(random);
    const Comm comm = distributed_graph_communicator(lists);
    exchange_often(lists, comm, seed * 100);
  }
}

TEST(GraphTest, MegabytesAlongEveryEdgeArrive) {
  std::mt19937 random(77);
  const Lists lists = random_distributed_graph(random);
  const Comm comm = distributed_graph_communicator(lists);
  exchange(lists, comm, 5, 1 << 20, true);
  exchange(lists, comm, 6, 1 << 20, false);
}

// libfabric's TCP puts messages aside that the kernel has no room for, and calls them sent. They must leave while their
// sender is busy with MPI, too.
TEST(GraphTest, RanksThatOnlySendMayTurnToMpi) {
  Lists chain{std::vector<std::vector<int>>(static_cast<std::size_t>(world_size())),
              std::vector<std::vector<int>>(static_cast<std::size_t>(world_size()))};
  for (std::size_t rank = 0; rank + 1 < chain.sources.size(); ++rank) {
    chain.destinations[rank].push_back(static_cast<int>(rank + 1));
    chain.sources[rank + 1].push_back(static_cast<int>(rank));
  }
  const Comm comm = distributed_graph_communicator(chain);
  for (int round = 0; round < 3; ++round) {
    for (unsigned seed = 0; seed < 300; ++seed) exchange(chain, comm, seed, 1000, true);
    ASSERT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS);
  }
}

TEST(GraphTest, NeighborsOfEveryRankAreListed) {
  std::mt19937 random(3);
  const Lists lists = random_graph(random);
  const Comm comm = graph_communicator(lists);
  for (int rank = 0; rank < world_size(); ++rank) {
    const std::vector<int>& expected = lists.destinations[static_cast<std::size_t>(rank)];
    int count = -1;
    ASSERT_EQ(MPI_Comm_neighbors_count(comm, rank, &count), MPI_SUCCESS);
    ASSERT_EQ(count, static_cast<int>(expected.size()));
    std::vector<int> neighbors(expected.size() + 1, -1);
    ASSERT_EQ(MPI_Comm_neighbors(comm, rank, count, neighbors.data()), MPI_SUCCESS);
    neighbors.pop_back();
    EXPECT_EQ(neighbors, expected);
  }
}

TEST(GraphTest, DistributedGraphListsTheOwnDestinations) {
  std::mt19937 random(4);
  const Lists lists = random_distributed_graph(random);
  const Comm comm = distributed_graph_communicator(lists);
  const std::vector<int>& expected = lists.destinations[static_cast<std::size_t>(world_rank())];
  std::vector<int> neighbors(expected.size() + 1, -1);
  ASSERT_EQ(MPI_Comm_neighbors(comm, world_rank(), static_cast<int>(expected.size()), neighbors.data()), MPI_SUCCESS);
  neighbors.pop_back();
  EXPECT_EQ(neighbors, expected);
}

TEST(GraphTest, NullArraysAreFineWithoutNeighbors) {
  const Lists lists{std::vector<std::vector<int>>(static_cast<std::size_t>(world_size())),
                    std::vector<std::vector<int>>(static_cast<std::size_t>(world_size()))};
  const Comm comm = distributed_graph_communicator(lists);
  EXPECT_EQ(MPI_Neighbor_xchgv(nullptr, nullptr, nullptr, MPI_INT, nullptr, nullptr, nullptr, MPI_INT, comm),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Neighbor_xchgv(MPI_IN_PLACE, nullptr, nullptr, MPI_INT, nullptr, nullptr, nullptr, MPI_INT, comm),
            MPI_SUCCESS);
}

}  // namespace
}  // namespace fab::test
