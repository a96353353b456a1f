#include "collectives/choice/registry.h"

#include <algorithm>
#include <array>
#include <bit>

#include "collectives/teaching/array.h"

namespace fab::collectives {

// Each in its own file, <collective>/<algorithm>.cpp.
BuildAlgorithm barrier_dissemination, barrier_recursive_doubling, barrier_direct, barrier_leaders;
BuildAlgorithm bcast_binomial, bcast_linear, bcast_binary, bcast_chain, bcast_scatter_allgather, bcast_leaders;
BuildAlgorithm reduce_binomial, reduce_linear, reduce_chain, reduce_rabenseifner, reduce_leaders;
BuildAlgorithm allreduce_recursive_doubling, allreduce_direct, allreduce_ring, allreduce_rabenseifner, allreduce_split,
    allreduce_leaders, allreduce_sliced;
BuildAlgorithm gather_linear, gather_binomial, gather_leaders;
BuildAlgorithm scatter_linear, scatter_binomial, scatter_leaders;
BuildAlgorithm allgather_ring, allgather_linear, allgather_recursive_doubling, allgather_bruck,
    allgather_neighbor_exchange, allgather_leaders;
BuildAlgorithm alltoall_pairwise, alltoall_linear, alltoall_bruck, alltoall_node_first;
BuildAlgorithm reduce_scatter_pairwise, reduce_scatter_recursive_halving, reduce_scatter_ring,
    reduce_scatter_reduce_then_scatter, reduce_scatter_direct, reduce_scatter_leaders;
BuildAlgorithm scan_recursive_doubling, scan_linear, scan_leaders;
BuildAlgorithm exscan_recursive_doubling, exscan_linear, exscan_leaders;

// teaching/<collective>_<algorithm>.cpp.
BuildAlgorithm gather_hypercube, gather_hypercube_packets;
BuildAlgorithm allgather_array_1d, allgather_array_2d, allgather_array_3d, allgather_dimension_exchange;

namespace {

constexpr Cut kWhole = Cut::never;
constexpr Cut kSegmentable = Cut::always;
constexpr bool kTeaches = true;

constexpr Restriction kAny{"", [](const CollectiveCall&) { return true; }};
constexpr Restriction kCommutative{"operations that commute",
                                   [](const CollectiveCall& call) { return call.operation.commutative; }};
constexpr Restriction kPowerOfTwo{"numbers of ranks that are powers of two", [](const CollectiveCall& call) {
                                    return std::has_single_bit(static_cast<unsigned>(call.ranks));
                                  }};
constexpr Restriction kEven{"even numbers of ranks", [](const CollectiveCall& call) { return call.ranks % 2 == 0; }};
constexpr Restriction kTwoFactors{"numbers of ranks with two factors above 1",
                                  [](const CollectiveCall& call) { return !array_extents(call.ranks, 2).empty(); }};
constexpr Restriction kThreeFactors{"numbers of ranks with three factors above 1",
                                    [](const CollectiveCall& call) { return !array_extents(call.ranks, 3).empty(); }};
constexpr Restriction kNodes{"communicators of several nodes",
                             [](const CollectiveCall& call) { return call.nodes != nullptr; }};
constexpr Restriction kNodesInOrder{
    "communicators of several nodes, with consecutive ranks on each unless the operation commutes",
    [](const CollectiveCall& call) {
      return call.nodes != nullptr && (call.operation.commutative || call.nodes->consecutive());
    }};
constexpr Restriction kConsecutiveNodes{
    "communicators of several nodes, with consecutive ranks on each",
    [](const CollectiveCall& call) { return call.nodes != nullptr && call.nodes->consecutive(); }};

/// An algorithm of one collective, or of two that differ in what is known of blocks.
struct CollectivesOf {
  constexpr CollectivesOf(Collective one) : first(one), second(one) {}  // NOLINT(google-explicit-constructor)
  constexpr CollectivesOf(Collective one, Collective other) : first(one), second(other) {}

  Collective first;
  Collective second;
};
constexpr CollectivesOf kGathers{Collective::gather, Collective::gatherv};
constexpr CollectivesOf kScatters{Collective::scatter, Collective::scatterv};
constexpr CollectivesOf kAllgathers{Collective::allgather, Collective::allgatherv};
constexpr CollectivesOf kAlltoalls{Collective::alltoall, Collective::alltoallv};

struct Row {
  CollectivesOf of;
  const char* name;
  const char* description;
  Restriction restriction;
  Cut cut;
  BuildAlgorithm* build;
  bool teaches = false;
};

/// Those of a collective stand together, the first of them can do everything.
constexpr Row kTable[] = {
    {Collective::barrier, "dissemination", "each step doubles the number of ranks that a rank has heard of", kAny,
     kWhole, barrier_dissemination},
    {Collective::barrier, "recursive_doubling", "pairs of ranks, then of pairs", kAny, kWhole,
     barrier_recursive_doubling},
    {Collective::barrier, "direct", "every rank sends to every rank", kAny, kWhole, barrier_direct},
    {Collective::barrier, "leaders", "up to a leader of each node, between leaders, and down", kNodes, kWhole,
     barrier_leaders},

    {Collective::bcast, "binomial", "along a binomial tree", kAny, kWhole, bcast_binomial},
    {Collective::bcast, "linear", "the root sends to every rank", kAny, Cut::where_crowded, bcast_linear},
    {Collective::bcast, "binary", "along a binary tree, in segments", kAny, kSegmentable, bcast_binary},
    {Collective::bcast, "chain", "along a chain, in segments", kAny, kSegmentable, bcast_chain},
    {Collective::bcast, "scatter_allgather", "parts down a binomial tree, then round a ring", kAny, kWhole,
     bcast_scatter_allgather},
    {Collective::bcast, "leaders", "to a leader of each node, then within nodes", kNodes, kSegmentable, bcast_leaders},

    {Collective::reduce, "binomial", "along a binomial tree", kAny, kWhole, reduce_binomial},
    {Collective::reduce, "linear", "every rank sends to the root", kAny, kWhole, reduce_linear},
    {Collective::reduce, "chain", "along a chain, in segments", kAny, kSegmentable, reduce_chain},
    {Collective::reduce, "rabenseifner", "recursive halving, then a binomial tree", kCommutative, kWhole,
     reduce_rabenseifner},
    {Collective::reduce, "leaders", "within nodes, then between a leader of each", kNodesInOrder, kSegmentable,
     reduce_leaders},

    {Collective::allreduce, "recursive_doubling", "pairs of ranks, then of pairs, exchange whole vectors", kAny, kWhole,
     allreduce_recursive_doubling},
    {Collective::allreduce, "direct", "every rank sends to every rank, and combines all", kAny, kWhole,
     allreduce_direct},
    {Collective::allreduce, "ring", "parts go round a ring twice", kCommutative, kWhole, allreduce_ring},
    {Collective::allreduce, "rabenseifner", "recursive halving, then recursive doubling", kCommutative, kWhole,
     allreduce_rabenseifner},
    {Collective::allreduce, "split", "every rank combines its part of all vectors, and sends it to every rank", kAny,
     kWhole, allreduce_split},
    {Collective::allreduce, "leaders", "to a leader of each node, between leaders, and back", kNodesInOrder,
     kSegmentable, allreduce_leaders},
    {Collective::allreduce, "sliced", "every rank of a node takes its part of the vector to other nodes", kNodesInOrder,
     kWhole, allreduce_sliced},

    {Collective::gather, "binomial", "along a binomial tree", kAny, kWhole, gather_binomial},
    {kGathers, "linear", "every rank sends to the root", kAny, kWhole, gather_linear},
    {Collective::gather, "leaders", "to a leader of each node, then between leaders", kNodes, kWhole, gather_leaders},
    {Collective::gather, "hypercube", "block by block up a hypercube", kAny, kWhole, gather_hypercube, kTeaches},
    {Collective::gather, "hypercube_packets", "packet by packet up a hypercube, through bounded memory", kAny, kWhole,
     gather_hypercube_packets, kTeaches},

    {Collective::scatter, "binomial", "along a binomial tree", kAny, kWhole, scatter_binomial},
    {kScatters, "linear", "the root sends to every rank", kAny, kWhole, scatter_linear},
    {Collective::scatter, "leaders", "to a leader of each node, then within nodes", kNodes, kWhole, scatter_leaders},

    {kAllgathers, "ring", "blocks go round a ring", kAny, kWhole, allgather_ring},
    {kAllgathers, "linear", "every rank sends to every rank", kAny, kWhole, allgather_linear},
    {kAllgathers, "recursive_doubling", "pairs of ranks, then of pairs, exchange what they have", kPowerOfTwo, kWhole,
     allgather_recursive_doubling},
    {kAllgathers, "bruck", "each step doubles the number of blocks that a rank has", kAny, kWhole, allgather_bruck},
    {kAllgathers, "neighbor_exchange", "pairs of blocks, with both neighbours in turn", kEven, kWhole,
     allgather_neighbor_exchange},
    {kAllgathers, "leaders", "to a leader of each node, between leaders, and back", kNodes, kSegmentable,
     allgather_leaders},
    {kAllgathers, "array_1d", "to both sides along a line, coloured", kAny, kWhole, allgather_array_1d, kTeaches},
    {kAllgathers, "array_2d", "along rows, then columns, coloured", kTwoFactors, kWhole, allgather_array_2d, kTeaches},
    {kAllgathers, "array_3d", "along rows, columns, then planes, coloured", kThreeFactors, kWhole, allgather_array_3d,
     kTeaches},
    {kAllgathers, "dimension_exchange", "along each dimension of a hypercube, one way at a time", kPowerOfTwo, kWhole,
     allgather_dimension_exchange, kTeaches},

    {kAlltoalls, "pairwise", "pairs of ranks, one after another", kAny, kWhole, alltoall_pairwise},
    {kAlltoalls, "linear", "all pairs of ranks, some at once", kAny, kWhole, alltoall_linear},
    {Collective::alltoall, "bruck", "each step moves half of the blocks twice as far", kAny, kWhole, alltoall_bruck},
    {Collective::alltoall, "node_first", "within nodes, then what one rank has for a node as one message", kNodes,
     kWhole, alltoall_node_first},

    {Collective::reduce_scatter, "pairwise", "every rank's block to its owner, one after another", kAny, kWhole,
     reduce_scatter_pairwise},
    {Collective::reduce_scatter, "recursive_halving", "each step halves the vector", kCommutative, kWhole,
     reduce_scatter_recursive_halving},
    {Collective::reduce_scatter, "ring", "parts go round a ring", kCommutative, kWhole, reduce_scatter_ring},
    {Collective::reduce_scatter, "reduce_then_scatter", "up a binomial tree and down", kAny, kWhole,
     reduce_scatter_reduce_then_scatter},
    {Collective::reduce_scatter, "direct", "every rank sends to every rank, and combines its part of all", kAny, kWhole,
     reduce_scatter_direct},
    {Collective::reduce_scatter, "leaders", "to a leader of each node, between leaders, and back", kNodesInOrder,
     kSegmentable, reduce_scatter_leaders},

    {Collective::scan, "recursive_doubling", "pairs of ranks, then of pairs", kAny, kWhole, scan_recursive_doubling},
    {Collective::scan, "linear", "from rank to rank, in segments", kAny, Cut::unless_crowded, scan_linear},
    {Collective::scan, "leaders", "within nodes, then between their last ranks, and back", kConsecutiveNodes,
     kSegmentable, scan_leaders},

    {Collective::exscan, "recursive_doubling", "pairs of ranks, then of pairs", kAny, kWhole,
     exscan_recursive_doubling},
    {Collective::exscan, "linear", "from rank to rank, in segments", kAny, Cut::unless_crowded, exscan_linear},
    {Collective::exscan, "leaders", "within nodes, then between their last ranks, and back", kConsecutiveNodes,
     kSegmentable, exscan_leaders},
};

constexpr std::size_t count_algorithms() {
  std::size_t count = 0;
  for (const Row& row : kTable) count += row.of.first == row.of.second ? 1 : 2;
  return count;
}

/// A row for each collective, in the order of Collective.
constexpr auto kAlgorithms = [] {
  std::array<Algorithm, count_algorithms()> algorithms{};
  std::size_t next = 0;
  for (std::size_t i = 0; i < kCollectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    for (const Row& row : kTable)
      if (collective == row.of.first || collective == row.of.second)
        algorithms[next++] = {collective, row.name, row.description, row.restriction, row.cut, row.build, row.teaches};
  }
  return algorithms;
}();

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

std::span<const Algorithm> algorithms(Collective collective) {
  const auto is_its = [&](const Algorithm& row) { return row.collective == collective; };
  const auto* const first = std::find_if(kAlgorithms.begin(), kAlgorithms.end(), is_its);
  return {first, std::find_if_not(first, kAlgorithms.end(), is_its)};
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) noexcept {
  for (const Algorithm& row : algorithms(collective))
    if (name == row.name) return &row;
  return nullptr;
}

std::string algorithm_names(Collective collective) {
  std::string names;
  for (const Algorithm& row : algorithms(collective)) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

Schedule build(const Algorithm& algorithm, const CollectiveCall& call, const CommitOptions& options) {
  ScheduleBuilder builder(to_string(call.collective), call.ranks);
  if (call.bytes > 0 || call.collective == Collective::barrier) algorithm.build(builder, call);
  return builder.commit(options);
}

}  // namespace fab::collectives
