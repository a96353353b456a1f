#include "collectives/registry.h"

#include <algorithm>
#include <bit>

#include "collectives/array.h"

namespace fab::collectives {

// Each in its own file, <collective>/<algorithm>.cpp.
BuildAlgorithm barrier_dissemination, barrier_recursive_doubling;
BuildAlgorithm bcast_binomial, bcast_linear, bcast_binary, bcast_chain, bcast_scatter_allgather;
BuildAlgorithm reduce_binomial, reduce_linear, reduce_chain, reduce_rabenseifner;
BuildAlgorithm allreduce_recursive_doubling, allreduce_ring, allreduce_rabenseifner;
BuildAlgorithm gather_linear, gather_binomial, gather_hypercube, gather_hypercube_packets;
BuildAlgorithm scatter_linear, scatter_binomial;
BuildAlgorithm allgather_ring, allgather_linear, allgather_recursive_doubling, allgather_bruck,
    allgather_neighbor_exchange;
BuildAlgorithm allgather_array_1d, allgather_array_2d, allgather_array_3d, allgather_dimension_exchange;
BuildAlgorithm alltoall_pairwise, alltoall_linear, alltoall_bruck;
BuildAlgorithm reduce_scatter_pairwise, reduce_scatter_recursive_halving, reduce_scatter_ring,
    reduce_scatter_reduce_then_scatter;
BuildAlgorithm scan_recursive_doubling, scan_linear;
BuildAlgorithm exscan_recursive_doubling, exscan_linear;

namespace {

constexpr bool kSegmentable = true;
constexpr bool kWhole = false;

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

constexpr Algorithm kAlgorithms[] = {
    {Collective::barrier, "dissemination", "each step doubles how many ranks a rank has heard of", kAny, kWhole,
     barrier_dissemination},
    {Collective::barrier, "recursive_doubling", "pairs of ranks, then of pairs", kAny, kWhole,
     barrier_recursive_doubling},

    {Collective::bcast, "binomial", "along a binomial tree", kAny, kWhole, bcast_binomial},
    {Collective::bcast, "linear", "the root sends to every rank", kAny, kWhole, bcast_linear},
    {Collective::bcast, "binary", "along a binary tree, in segments", kAny, kSegmentable, bcast_binary},
    {Collective::bcast, "chain", "along a chain, in segments", kAny, kSegmentable, bcast_chain},
    {Collective::bcast, "scatter_allgather", "parts down a binomial tree, then round a ring", kAny, kWhole,
     bcast_scatter_allgather},

    {Collective::reduce, "binomial", "along a binomial tree", kAny, kWhole, reduce_binomial},
    {Collective::reduce, "linear", "every rank sends to the root", kAny, kWhole, reduce_linear},
    {Collective::reduce, "chain", "along a chain, in segments", kAny, kSegmentable, reduce_chain},
    {Collective::reduce, "rabenseifner", "recursive halving, then a binomial tree", kCommutative, kWhole,
     reduce_rabenseifner},

    {Collective::allreduce, "recursive_doubling", "pairs of ranks, then of pairs, exchange whole vectors", kAny, kWhole,
     allreduce_recursive_doubling},
    {Collective::allreduce, "ring", "parts go round a ring twice", kCommutative, kWhole, allreduce_ring},
    {Collective::allreduce, "rabenseifner", "recursive halving, then recursive doubling", kCommutative, kWhole,
     allreduce_rabenseifner},

    {Collective::gather, "binomial", "along a binomial tree", kAny, kWhole, gather_binomial},
    {Collective::gather, "linear", "every rank sends to the root", kAny, kWhole, gather_linear},
    {Collective::gather, "hypercube", "block by block up a hypercube", kAny, kWhole, gather_hypercube},
    {Collective::gather, "hypercube_packets", "packet by packet up a hypercube, through bounded memory", kAny, kWhole,
     gather_hypercube_packets},

    {Collective::gatherv, "linear", "every rank sends to the root", kAny, kWhole, gather_linear},

    {Collective::scatter, "binomial", "along a binomial tree", kAny, kWhole, scatter_binomial},
    {Collective::scatter, "linear", "the root sends to every rank", kAny, kWhole, scatter_linear},

    {Collective::scatterv, "linear", "the root sends to every rank", kAny, kWhole, scatter_linear},

    {Collective::allgather, "ring", "blocks go round a ring", kAny, kWhole, allgather_ring},
    {Collective::allgather, "linear", "every rank sends to every rank", kAny, kWhole, allgather_linear},
    {Collective::allgather, "recursive_doubling", "pairs of ranks, then of pairs, exchange what they have", kPowerOfTwo,
     kWhole, allgather_recursive_doubling},
    {Collective::allgather, "bruck", "each step doubles how many blocks a rank has", kAny, kWhole, allgather_bruck},
    {Collective::allgather, "neighbor_exchange", "pairs of blocks, with both neighbours in turn", kEven, kWhole,
     allgather_neighbor_exchange},
    {Collective::allgather, "array_1d", "to both sides along a line, coloured", kAny, kWhole, allgather_array_1d},
    {Collective::allgather, "array_2d", "along rows, then columns, coloured", kTwoFactors, kWhole, allgather_array_2d},
    {Collective::allgather, "array_3d", "along rows, columns, then planes, coloured", kThreeFactors, kWhole,
     allgather_array_3d},
    {Collective::allgather, "dimension_exchange", "along each dimension of a hypercube, one way at a time", kPowerOfTwo,
     kWhole, allgather_dimension_exchange},

    {Collective::allgatherv, "ring", "blocks go round a ring", kAny, kWhole, allgather_ring},
    {Collective::allgatherv, "linear", "every rank sends to every rank", kAny, kWhole, allgather_linear},
    {Collective::allgatherv, "recursive_doubling", "pairs of ranks, then of pairs, exchange what they have",
     kPowerOfTwo, kWhole, allgather_recursive_doubling},
    {Collective::allgatherv, "bruck", "each step doubles how many blocks a rank has", kAny, kWhole, allgather_bruck},
    {Collective::allgatherv, "neighbor_exchange", "pairs of blocks, with both neighbours in turn", kEven, kWhole,
     allgather_neighbor_exchange},
    {Collective::allgatherv, "array_1d", "to both sides along a line, coloured", kAny, kWhole, allgather_array_1d},
    {Collective::allgatherv, "array_2d", "along rows, then columns, coloured", kTwoFactors, kWhole, allgather_array_2d},
    {Collective::allgatherv, "array_3d", "along rows, columns, then planes, coloured", kThreeFactors, kWhole,
     allgather_array_3d},
    {Collective::allgatherv, "dimension_exchange", "along each dimension of a hypercube, one way at a time",
     kPowerOfTwo, kWhole, allgather_dimension_exchange},

    {Collective::alltoall, "pairwise", "pairs of ranks, one after another", kAny, kWhole, alltoall_pairwise},
    {Collective::alltoall, "linear", "all pairs of ranks, some at once", kAny, kWhole, alltoall_linear},
    {Collective::alltoall, "bruck", "each step moves half of the blocks twice as far", kAny, kWhole, alltoall_bruck},

    {Collective::alltoallv, "pairwise", "pairs of ranks, one after another", kAny, kWhole, alltoall_pairwise},
    {Collective::alltoallv, "linear", "all pairs of ranks, some at once", kAny, kWhole, alltoall_linear},

    {Collective::reduce_scatter, "pairwise", "every rank's block to its owner, one after another", kAny, kWhole,
     reduce_scatter_pairwise},
    {Collective::reduce_scatter, "recursive_halving", "each step halves the vector", kCommutative, kWhole,
     reduce_scatter_recursive_halving},
    {Collective::reduce_scatter, "ring", "parts go round a ring", kCommutative, kWhole, reduce_scatter_ring},
    {Collective::reduce_scatter, "reduce_then_scatter", "up a binomial tree and down", kAny, kWhole,
     reduce_scatter_reduce_then_scatter},

    {Collective::scan, "recursive_doubling", "pairs of ranks, then of pairs", kAny, kWhole, scan_recursive_doubling},
    {Collective::scan, "linear", "from rank to rank, in segments", kAny, kSegmentable, scan_linear},

    {Collective::exscan, "recursive_doubling", "pairs of ranks, then of pairs", kAny, kWhole,
     exscan_recursive_doubling},
    {Collective::exscan, "linear", "from rank to rank, in segments", kAny, kSegmentable, exscan_linear},
};

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

std::span<const Algorithm> algorithms(Collective collective) {
  const auto is_its = [&](const Algorithm& row) { return row.collective == collective; };
  const auto first = std::find_if(std::begin(kAlgorithms), std::end(kAlgorithms), is_its);
  return {first, std::find_if_not(first, std::end(kAlgorithms), is_its)};
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
