#include "collectives/registry.h"

#include <algorithm>

namespace fab::collectives {

// Each in its own file, <collective>/<algorithm>.cpp.
BuildAlgorithm barrier_dissemination, barrier_recursive_doubling;
BuildAlgorithm bcast_binomial, bcast_linear, bcast_binary, bcast_chain, bcast_scatter_allgather;
BuildAlgorithm reduce_binomial, reduce_linear, reduce_chain, reduce_rabenseifner;
BuildAlgorithm allreduce_recursive_doubling, allreduce_ring, allreduce_rabenseifner;
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
