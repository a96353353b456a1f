// The neighbourhood collectives under the drop-in library against MPI's own result, along each kind of topology.
#include <algorithm>
#include <functional>

#include "forms.h"

namespace fab::test {

namespace {

constexpr unsigned kRounds = 8;
constexpr unsigned kRoundsOfRepeated = 3;  // of each graph with repeated edges
constexpr int kFirstRepeated = 5;          // the first parameter that stands for such a graph, by its seed

/// Edges of random directed graphs that all ranks draw alike: [i] are the destinations of rank i.
using Edges = std::vector<std::vector<int>>;

/// Each pair of ranks, and each rank with itself, has one edge or none.
Edges random_edges(int ranks) {
  Draw alike(17);
  Edges to(static_cast<std::size_t>(ranks));
  for (auto& destinations : to)
    for (int other = 0; other < ranks; ++other)
      if (alike.number(0, 2) > 0) destinations.push_back(other);
  return to;
}

/// From 0 to 6 edges from each rank, in any order, to itself, too, and some of them several times.
Edges random_repeated_edges(int ranks, unsigned seed) {
  Draw alike(seed);
  Edges to(static_cast<std::size_t>(ranks));
  for (auto& destinations : to)
    for (int left = alike.number(0, 6); left > 0; --left) destinations.push_back(alike.number(0, ranks - 1));
  return to;
}

std::size_t size_of(int count) { return static_cast<std::size_t>(count); }

MPI_Comm make_grid(bool periodic, int dimensions, int ranks) {
  std::vector<int> dims(static_cast<std::size_t>(dimensions), 0);
  const std::vector<int> periods(dims.size(), periodic ? 1 : 0);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dims_create(ranks, dimensions, dims.data());
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims.data(), periods.data(), 0, &comm);
  return comm;
}

/// Each rank with both of its neighbours on a ring, once each. One rank alone is its own neighbour.
MPI_Comm make_graph(int ranks) {
  std::vector<int> index;
  std::vector<int> edges;
  for (int rank = 0; rank < ranks; ++rank) {
    const int left = (rank + ranks - 1) % ranks;
    const int right = (rank + 1) % ranks;
    edges.push_back(left);
    if (right != left) edges.push_back(right);
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Graph_create(MPI_COMM_WORLD, ranks, index.data(), edges.data(), 0, &comm);
  return comm;
}

MPI_Comm make_distributed_graph(const Edges& to, bool weighted, int rank) {
  const std::vector<int>& destinations = to.at(static_cast<std::size_t>(rank));
  std::vector<int> sources;
  for (std::size_t other = 0; other < to.size(); ++other)
    for (const int destination : to[other])
      if (destination == rank) sources.push_back(static_cast<int>(other));
  // Of no edges these are the weights, as a null pointer is none.
  const auto weights = [weighted](std::vector<int>& numbers) {
    return !weighted ? MPI_UNWEIGHTED : numbers.empty() ? MPI_WEIGHTS_EMPTY : numbers.data();
  };
  std::vector<int> in(sources.size(), 3);
  std::vector<int> out(destinations.size(), 3);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(), weights(in),
                                 static_cast<int>(destinations.size()), destinations.data(), weights(out),
                                 MPI_INFO_NULL, 0, &comm);
  return comm;
}

class Neighbors : public testing::TestWithParam<int> {
 protected:
  Neighbors() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    switch (GetParam()) {
      case 0:
        comm_ = make_grid(false, 1, ranks_);
        break;
      case 1:
        comm_ = make_grid(true, 2, ranks_);
        break;
      case 2:
        comm_ = make_grid(false, 3, ranks_);
        break;
      case 3:
        comm_ = make_graph(ranks_);
        break;
      case 4:
        comm_ = make_distributed_graph(random_edges(ranks_), false, rank_);
        break;
      default: {
        const auto seed = static_cast<unsigned>(GetParam());
        comm_ = make_distributed_graph(random_repeated_edges(ranks_, seed), seed % 2 == 0, rank_);
      }
    }
    list_neighbors();
    sources_ = static_cast<int>(from_.size());
    destinations_ = static_cast<int>(to_.size());
  }
  ~Neighbors() override { MPI_Comm_free(&comm_); }

  void list_neighbors() {
    int kind = MPI_UNDEFINED;
    MPI_Topo_test(comm_, &kind);
    if (kind == MPI_CART) {
      int dimensions = 0;
      MPI_Cartdim_get(comm_, &dimensions);
      from_.resize(size_of(2 * dimensions));
      for (int i = 0; i < dimensions; ++i)
        MPI_Cart_shift(comm_, i, 1, &from_[size_of(2 * i)], &from_[size_of(2 * i + 1)]);
      to_ = from_;
    } else if (kind == MPI_GRAPH) {
      int neighbors = 0;
      MPI_Graph_neighbors_count(comm_, rank_, &neighbors);
      from_.resize(size_of(neighbors));
      MPI_Graph_neighbors(comm_, rank_, neighbors, from_.data());
      to_ = from_;
    } else {
      int sources = 0;
      int destinations = 0;
      int weighted = 0;
      MPI_Dist_graph_neighbors_count(comm_, &sources, &destinations, &weighted);
      from_.resize(size_of(sources));
      to_.resize(size_of(destinations));
      std::vector<int> in(from_.size() + 1);
      std::vector<int> out(to_.size() + 1);
      MPI_Dist_graph_neighbors(comm_, sources, from_.data(), in.data(), destinations, to_.data(), out.data());
    }
  }

  void repeat(const std::function<void(Draw& alike, Draw& own)>& body) const {
    const unsigned rounds = GetParam() < kFirstRepeated ? kRounds : kRoundsOfRepeated;
    for (unsigned round = 0; round < rounds; ++round) {
      SCOPED_TRACE(round);
      Draw alike(round + 1);
      Draw own(1000 * (round + 1) + static_cast<unsigned>(rank_));
      body(alike, own);
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<int> from_;  ///< MPI_PROC_NULL: none
  std::vector<int> to_;
  int sources_ = 0;
  int destinations_ = 0;
};

Bytes bytes_for(int elements, const RandomType& type, Draw& draw) {
  return random_bytes((size_of(elements) + 1) * type.extent(), draw);
}

TEST_P(Neighbors, Alltoall) {
  repeat([this](Draw& alike, Draw& own) {
    const MPI_Datatype base = random_base(alike);
    const RandomType from(own, base);
    const RandomType into(own, base);
    const int count = alike.count();
    const Bytes sent = bytes_for(count * destinations_, from, own);
    const Bytes before = bytes_for(count * sources_, into, own);
    COMPARE_FORMS(before, alike.number(0, kWaysToFinish - 1), Neighbor_alltoall, neighbor_alltoall,
                  (sent.data(), count, from.get(), buffer, count, into.get()), comm_);
  });
}

TEST_P(Neighbors, Allgather) {
  repeat([this](Draw& alike, Draw& own) {
    const MPI_Datatype base = random_base(alike);
    const RandomType from(own, base);
    const RandomType into(own, base);
    const int count = alike.count();
    const Bytes sent = bytes_for(count, from, own);
    const Bytes before = bytes_for(count * sources_, into, own);
    COMPARE_FORMS(before, alike.number(0, kWaysToFinish - 1), Neighbor_allgather, neighbor_allgather,
                  (sent.data(), count, from.get(), buffer, count, into.get()), comm_);
  });
}

/// Empty, with an address all the same: Open MPI 4.1 refuses null pointers on a rank without edges.
template <class Value>
std::vector<Value> none_with_room_for(std::size_t values) {
  std::vector<Value> none;
  none.reserve(values + 1);
  return none;
}

/// Elements of the block of an edge, which both of its ends know; `seed` is that of all ranks.
int elements_between(int seed, int from, int to) {
  return from == MPI_PROC_NULL || to == MPI_PROC_NULL ? 0 : (seed + 37 * from + 101 * to) % 600;
}

/// Blocks in the opposite order and with gaps.
struct Places {
  template <class Count>
  Places(const std::vector<int>& peers, const Count& count)
      : counts(none_with_room_for<int>(peers.size())), displacements(none_with_room_for<int>(peers.size())) {
    counts.resize(peers.size());
    displacements.resize(peers.size());
    for (std::size_t i = peers.size(); i > 0; --i) {
      counts[i - 1] = count(peers[i - 1]);
      displacements[i - 1] = elements;
      elements += counts[i - 1] + 1;
    }
  }
  std::vector<int> counts;
  std::vector<int> displacements;
  int elements = 0;
};

std::vector<MPI_Aint> in_bytes(const Places& places, const RandomType& type) {
  auto all = none_with_room_for<MPI_Aint>(places.displacements.size());
  for (const int place : places.displacements) all.push_back(place * static_cast<MPI_Aint>(type.extent()));
  return all;
}

TEST_P(Neighbors, AllgathervAlltoallvAlltoallw) {
  repeat([this](Draw& alike, Draw& own) {
    const MPI_Datatype base = random_base(alike);
    const RandomType from(own, base);
    const RandomType into(own, base);
    const int seed = alike.number(0, 600);
    const int way = alike.number(0, kWaysToFinish - 1);
    const auto of_source = [seed](int peer) { return elements_between(seed, peer, 0); };
    const int own_count = of_source(rank_);
    const Places gathered(from_, of_source);
    const Places sends(to_, [&](int peer) { return elements_between(seed, rank_, peer); });
    const Places receives(from_, [&](int peer) { return elements_between(seed, peer, rank_); });
    const Bytes sent = bytes_for(std::max(sends.elements, own_count), from, own);
    const Bytes before = bytes_for(std::max(receives.elements, gathered.elements), into, own);
    COMPARE_FORMS(
        before, way, Neighbor_allgatherv, neighbor_allgatherv,
        (sent.data(), own_count, from.get(), buffer, gathered.counts.data(), gathered.displacements.data(), into.get()),
        comm_);
    COMPARE_FORMS(before, way, Neighbor_alltoallv, neighbor_alltoallv,
                  (sent.data(), sends.counts.data(), sends.displacements.data(), from.get(), buffer,
                   receives.counts.data(), receives.displacements.data(), into.get()),
                  comm_);
    auto send_types = none_with_room_for<MPI_Datatype>(sends.counts.size());
    auto recv_types = none_with_room_for<MPI_Datatype>(receives.counts.size());
    send_types.assign(sends.counts.size(), from.get());
    recv_types.assign(receives.counts.size(), into.get());
    const std::vector<MPI_Aint> send_places = in_bytes(sends, from);
    const std::vector<MPI_Aint> recv_places = in_bytes(receives, into);
    COMPARE_FORMS(before, way, Neighbor_alltoallw, neighbor_alltoallw,
                  (sent.data(), sends.counts.data(), send_places.data(), send_types.data(), buffer,
                   receives.counts.data(), recv_places.data(), recv_types.data()),
                  comm_);
  });
}

// fab knows them by their arguments, of which one differs: the seed of the counts, the order of the blocks, or a type.
TEST_P(Neighbors, CallsThatRepeat) {
  for (int round = 0; round < 2; ++round)
    repeat([this](Draw& alike, Draw& own) {
      const int seed = alike.number(0, 2);
      const int way = alike.number(0, kWaysToFinish - 1);
      const MPI_Datatype type = alike.number(0, 1) == 0 ? MPI_INT : MPI_UNSIGNED;
      const auto of_source = [seed](int peer) { return elements_between(seed, peer, 0); };
      const int own_count = of_source(rank_);
      const Places gathered(from_, of_source);
      const Places sends(to_, [&](int peer) { return elements_between(seed, rank_, peer); });
      Places receives(from_, [&](int peer) { return elements_between(seed, peer, rank_); });
      if (alike.number(0, 1) == 1)
        for (int& place : receives.displacements) ++place;
      const Bytes sent = random_bytes(sizeof(int) * static_cast<std::size_t>(sends.elements + own_count + 1), own);
      const Bytes before =
          random_bytes(sizeof(int) * static_cast<std::size_t>(receives.elements + gathered.elements + 1), own);
      COMPARE_FORMS(before, way, Neighbor_allgatherv, neighbor_allgatherv,
                    (sent.data(), own_count, type, buffer, gathered.counts.data(), gathered.displacements.data(), type),
                    comm_);
      COMPARE_FORMS(before, way, Neighbor_alltoallv, neighbor_alltoallv,
                    (sent.data(), sends.counts.data(), sends.displacements.data(), type, buffer, receives.counts.data(),
                     receives.displacements.data(), type),
                    comm_);
    });
}

INSTANTIATE_TEST_SUITE_P(Topologies, Neighbors, testing::Range(0, kFirstRepeated + 2));

}  // namespace

}  // namespace fab::test
