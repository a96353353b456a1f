// Communicators whose ranks may change places, on simulated nodes: a thread is a rank.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>

#include "bindings/native/base/access.h"
#include "core/communicator/communicator.h"
#include "core/context.h"
#include "fab/fab.h"
#include "providers/sim/network.h"
#include "support/comes_true.h"
#include "unit/support/expect_error.h"
#include "unit/support/random_topologies.h"

namespace fab {
namespace {

using test::comes_true;
using test::expect_error;

class PretendedNodes {
 public:
  explicit PretendedNodes(const std::vector<int>& nodes) : network_(static_cast<int>(nodes.size()), self_driven()) {
    Config config;
    config.log = LogLevel::off;
    for (std::unique_ptr<Store>& store : open_memory_stores(static_cast<int>(nodes.size()), nodes))
      contexts_.push_back(
          core::Context::open(config, std::move(store), [this](const Config&, const JobInfo& job, const Log&) {
            return Transports{.node = nullptr, .network = network_.open(job.rank)};
          }));
  }

  /// What was let go ends by itself, perhaps as the last owner of its context.
  ~PretendedNodes() {
    const auto is_idle = [](const auto& context) { return context->engine().active() == 0; };
    EXPECT_TRUE(comes_true([&] { return std::ranges::all_of(contexts_, is_idle); }));
    contexts_.clear();
    EXPECT_TRUE(comes_true([&] { return network_.providers() == 0; }));
  }

  /// Each rank in a thread of its own, given the communicator of all.
  void run(const std::function<void(const Communicator& world)>& body) {
    std::vector<std::thread> threads;
    for (const auto& context : contexts_)
      threads.emplace_back([&body, context] { body(Access::communicator(core::Communicator::world(context))); });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  static sim::Options self_driven() {
    sim::Options options = sim::adversarial(1);
    options.capabilities.wait_fd = true;
    return options;
  }

  sim::Network network_;
  std::vector<std::shared_ptr<core::Context>> contexts_;
};

/// Rank i on node i mod `nodes`.
std::vector<int> dealt(int ranks, int nodes) {
  std::vector<int> result;
  for (int rank = 0; rank < ranks; ++rank) result.push_back(rank % nodes);
  return result;
}

/// Every rank tells each neighbour its place; what came.
std::vector<int> places_of_sources(const Communicator& communicator) {
  const std::vector<int> mine(communicator.neighborhood().destinations.size(), communicator.rank());
  std::vector<int> theirs(communicator.neighborhood().sources.size(), -1);
  std::vector<BlockShape> send;
  for (std::size_t i = 0; i < mine.size(); ++i)
    send.push_back({static_cast<std::ptrdiff_t>(i * sizeof(int)), Layout::contiguous(sizeof(int))});
  std::vector<BlockShape> recv;
  for (std::size_t i = 0; i < theirs.size(); ++i)
    recv.push_back({static_cast<std::ptrdiff_t>(i * sizeof(int)), Layout::contiguous(sizeof(int))});
  neighbor_xchgv(communicator, mine.data(), send, theirs.data(), recv);
  return theirs;
}

std::vector<int> peers(const std::vector<Edge>& edges) {
  std::vector<int> result;
  for (const Edge& edge : edges) result.push_back(edge.peer);
  return result;
}

using Make = std::function<std::optional<Communicator>(const Communicator& world)>;

/// The rank of the old communicator at each place of the new one, after an exchange between neighbours.
std::vector<Rank> ranks_at_places(const std::vector<int>& nodes, int places, const Make& make) {
  std::vector<Rank> ranks(static_cast<std::size_t>(places), -1);
  PretendedNodes(nodes).run([&](const Communicator& world) {
    const std::optional<Communicator> made = make(world);
    if (!made) return;
    ranks[static_cast<std::size_t>(made->rank())] = world.rank();
    EXPECT_EQ(places_of_sources(*made), peers(made->neighborhood().sources)) << "place " << made->rank();
  });
  return ranks;
}

std::vector<Rank> first_ranks(int count) {
  std::vector<Rank> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

TEST(Reorder, PutsBricksOfAGridOnNodes) {
  const std::vector<int> nodes = dealt(12, 3);
  const Cartesian grid({3, 4}, {true, false});
  const std::vector<Rank> ranks = ranks_at_places(nodes, 12, [](const Communicator& world) {
    return world.cartesian({3, 4}, {true, false}, Reorder::yes);
  });
  const Traffic traffic = Traffic::of(grid);
  EXPECT_EQ(Mapping(ranks), Mapping::bricks(grid, nodes));
  EXPECT_LT(cut(traffic, Mapping(ranks), nodes).messages, cut(traffic, Mapping::row_major(grid), nodes).messages);
}

TEST(Reorder, LooksAtWeights) {
  const std::vector<int> nodes = dealt(16, 4);
  for (const std::size_t heavy : {0u, 1u}) {
    std::vector<std::int64_t> weights{1, 1};
    weights[heavy] = 1000;
    const std::vector<Rank> ranks = ranks_at_places(nodes, 16, [&](const Communicator& world) {
      return world.cartesian(
          {4, 4}, {true, true}, Reorder::yes,
          world.rank() == 0 ? std::span<const std::int64_t>(weights) : std::span<const std::int64_t>());
    });
    const Traffic traffic = Traffic::of(Cartesian({4, 4}, {true, true}), weights);
    EXPECT_EQ(cut(traffic, Mapping(ranks), nodes).weight, 2 * 16) << "dimension " << heavy;
  }
}

TEST(Reorder, LeavesSomeRanksOver) {
  std::vector<Rank> ranks = ranks_at_places(dealt(7, 2), 6, [](const Communicator& world) {
    auto made = world.cartesian_if({2, 3}, {false, false}, Reorder::yes);
    EXPECT_EQ(made.has_value(), world.rank() < 6);
    return made;
  });
  std::sort(ranks.begin(), ranks.end());
  EXPECT_EQ(ranks, first_ranks(6));
}

TEST(Reorder, MovesNoRankOnOneNode) {
  EXPECT_EQ(ranks_at_places(std::vector<int>(6, 0), 6,
                            [](const Communicator& world) { return world.cartesian({6}, {true}, Reorder::yes); }),
            first_ranks(6));
}

TEST(Reorder, MovesNoRankWhenItFails) {
  // Only rank 0 looks at weights, and the others must not wait for it in vain.
  EXPECT_EQ(ranks_at_places(dealt(4, 2), 4,
                            [](const Communicator& world) {
                              return world.cartesian({4}, {true}, Reorder::yes, std::vector<std::int64_t>{-1});
                            }),
            first_ranks(4));
}

TEST(Reorder, MovesNoRankUnlessAsked) {
  EXPECT_EQ(ranks_at_places(dealt(6, 2), 6, [](const Communicator& world) { return world.cartesian({6}, {true}); }),
            first_ranks(6));
}

TEST(Reorder, PutsVerticesOfAGraphOnNodes) {
  // Two rings, of the even and the odd vertices, on nodes of four neighbouring ranks.
  std::vector<int> index;
  std::vector<int> edges;
  for (int vertex = 0; vertex < 8; ++vertex) {
    edges.push_back((vertex + 2) % 8);
    edges.push_back((vertex + 6) % 8);
    index.push_back(static_cast<int>(edges.size()));
  }
  const std::vector<int> nodes{0, 0, 0, 0, 1, 1, 1, 1};
  const std::vector<Rank> ranks =
      ranks_at_places(nodes, 8, [&](const Communicator& world) { return world.graph(index, edges, Reorder::yes); });
  EXPECT_EQ(cut(Traffic::of(Graph(index, edges)), Mapping(ranks), nodes).messages, 0);
}

TEST(Reorder, GivesEachPlaceItsEdgesOfADistributedGraph) {
  for (const int size : {1, 2, 3, 7, 16}) {
    const std::vector<DistributedGraph> parts = test::random_distributed_graph(size, static_cast<unsigned>(size));
    const std::vector<int> nodes = dealt(size, 3);
    std::vector<std::int64_t> ends;
    std::vector<int> targets;
    for (const DistributedGraph& part : parts) {
      targets.insert(targets.end(), part.destinations().begin(), part.destinations().end());
      ends.push_back(static_cast<std::int64_t>(targets.size()));
    }
    const Traffic traffic(ends, targets);
    const std::vector<Rank> ranks = ranks_at_places(nodes, size, [&](const Communicator& world) {
      const DistributedGraph& part = parts[static_cast<std::size_t>(world.rank())];
      const auto made = world.distributed_graph({part.sources().begin(), part.sources().end()},
                                                {part.destinations().begin(), part.destinations().end()}, Reorder::yes);
      EXPECT_EQ(made.neighborhood(), parts[static_cast<std::size_t>(made.rank())].neighborhood());
      return std::optional(made);
    });
    EXPECT_EQ(Mapping(ranks), Mapping::partition(traffic, nodes));
  }
}

TEST(Reorder, LooksAtWeightsOfADistributedGraph) {
  // A ring on nodes of two. Every other edge is heavy, and those that are cut at first.
  std::vector<Rank> ranks = ranks_at_places({0, 0, 1, 1, 2, 2}, 6, [](const Communicator& world) {
    const int next = (world.rank() + 1) % 6;
    const int previous = (world.rank() + 5) % 6;
    const std::int64_t to_next = world.rank() % 2 == 1 ? 100 : 1;
    return std::optional(
        world.distributed_graph({next, previous}, {next, previous}, Reorder::yes, {to_next, 101 - to_next}));
  });
  for (const int place : {1, 3, 5})
    EXPECT_EQ(ranks[static_cast<std::size_t>(place)] / 2, ranks[static_cast<std::size_t>((place + 1) % 6)] / 2);
}

TEST(Reorder, RefusesBadWeightsOfADistributedGraph) {
  PretendedNodes({0}).run([](const Communicator& world) {
    expect_error(Errc::invalid_argument, {"distributed_graph", "2 weights", "1 destinations"}, [&] {
      (void)world.distributed_graph({0}, {0}, Reorder::yes, {1, 2});
    });
    expect_error(Errc::invalid_argument, {"distributed_graph", "weights[0] is -1"},
                 [&] { (void)world.distributed_graph({0}, {0}, Reorder::yes, {-1}); });
  });
}

TEST(Reorder, OfAHaloExchangeLooksAtFaces) {
  // Faces along the first dimension have 100 cells, those along the second one 2.
  std::vector<int> node_at_place(16);
  const std::vector<int> nodes = dealt(16, 4);
  PretendedNodes(nodes).run([&](const Communicator& world) {
    HaloExchange halo(world, {.grid = {4, 4},
                              .periodic = {true, true},
                              .block = {.interior = {2, 100}, .width = {1, 1}},
                              .reorder = Reorder::yes});
    const Rank place = halo.communicator().rank();
    node_at_place[static_cast<std::size_t>(place)] = nodes[static_cast<std::size_t>(world.rank())];
    const Box own = halo.geometry().interior();
    const std::size_t row = halo.geometry().strides()[0];
    for (std::size_t y = own.start[0]; y < own.start[0] + own.size[0]; ++y)
      std::fill_n(halo.field<double>().data() + y * row + own.start[1], own.size[1], place);
    halo.start();
    halo.finish();
    EXPECT_EQ(halo.field<double>()[own.start[1]], *halo.neighbor({-1, 0}));
    EXPECT_EQ(halo.field<double>()[row], *halo.neighbor({0, -1}));
  });
  for (std::size_t place = 0; place < 12; ++place) EXPECT_EQ(node_at_place[place], node_at_place[place + 4]);
}

}  // namespace
}  // namespace fab
