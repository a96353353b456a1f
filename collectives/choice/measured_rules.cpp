// The built-in rules: those that were measured on a few ranks (docs/lab/collectives.md).
#include "collectives/choice/built_in_rules.h"

namespace fab::collectives {

namespace {

// Where each step of a ring or a chain is one between nodes: before all others.
constexpr BuiltInRule kScattered[] = {
    {Collective::bcast, kAnyBytes, kAnyRanks, "leaders", Where::scattered},
    {Collective::reduce, kAnyBytes, kAnyRanks, "leaders", Where::scattered},
    {Collective::allgather, kAnyBytes, kAnyRanks, "leaders", Where::scattered},
    {Collective::allgatherv, kAnyBytes, kAnyRanks, "leaders", Where::scattered},
    {Collective::reduce_scatter, kAnyBytes, kAnyRanks, "leaders", Where::scattered},
};

// Where the kernel carries what goes between nodes, messages cost more than copies within a node do: the fewest go
// there, and each byte once. On many ranks only what is short, as one rank of a node does the work for all.
constexpr BuiltInRule kOverTcp[] = {
    {Collective::allreduce, 8 << 10, kAnyRanks, "leaders", Where::tcp},
    {Collective::allreduce, 64 << 10, 32, "leaders", Where::tcp},
    {Collective::gather, 8 << 10, kAnyRanks, "leaders", Where::tcp},
    {Collective::scatter, 8 << 10, kAnyRanks, "leaders", Where::tcp},
    {Collective::allgather, 128 << 10, kAnyRanks, "leaders", Where::tcp},
    {Collective::allgather, 512 << 10, 32, "leaders", Where::tcp},
    {Collective::alltoall, 8 << 10, kAnyRanks, "node_first", Where::tcp},
    {Collective::reduce_scatter, 512 << 10, kAnyRanks, "leaders", Where::tcp},
};

constexpr BuiltInRule kMeasured[] = {
    {Collective::barrier, kAnyBytes, kAnyRanks, "leaders", Where::nodes},
    {Collective::barrier, kAnyBytes, 8, "direct", Where::node},
    {Collective::barrier, kAnyBytes, kAnyRanks, "dissemination"},

    {Collective::bcast, 2 << 20, kAnyRanks, "leaders", Where::nodes},
    {Collective::bcast, kAnyBytes, 2, "linear"},
    {Collective::bcast, 64 << 10, 4, "linear", Where::node},
    {Collective::bcast, 2 << 10, kAnyRanks, "binomial"},
    {Collective::bcast, 64 << 10, 16, "linear", Where::node},
    {Collective::bcast, kAnyBytes, 8, "linear", Where::crowded},
    {Collective::bcast, 16 << 10, kAnyRanks, "binomial"},
    {Collective::bcast, 512 << 10, 4, "chain", Where::node},
    {Collective::bcast, 128 << 10, 8, "chain", Where::node},
    {Collective::bcast, kAnyBytes, 8, "chain", Where::node},
    {Collective::bcast, 256 << 10, 4, "binomial"},
    {Collective::bcast, kAnyBytes, 8, "chain"},
    {Collective::bcast, 512 << 10, kAnyRanks, "binary"},
    {Collective::bcast, kAnyBytes, kAnyRanks, "scatter_allgather"},

    {Collective::reduce, kAnyBytes, kAnyRanks, "leaders", Where::nodes},
    {Collective::reduce, kAnyBytes, 2, "linear"},
    {Collective::reduce, 32 << 10, 4, "linear"},
    {Collective::reduce, 16 << 10, 8, "linear", Where::crowded},
    {Collective::reduce, 64 << 10, 8, "binomial", Where::crowded},
    {Collective::reduce, kAnyBytes, 8, "chain", Where::crowded},
    {Collective::reduce, kAnyBytes, 4, "chain", Where::node},
    {Collective::reduce, 2 << 10, 8, "linear", Where::node},
    {Collective::reduce, 16 << 10, kAnyRanks, "binomial"},
    {Collective::reduce, 256 << 10, 4, "binomial"},
    {Collective::reduce, kAnyBytes, 4, "chain"},
    {Collective::reduce, kAnyBytes, kAnyRanks, "rabenseifner"},
    {Collective::reduce, kAnyBytes, kAnyRanks, "chain"},

    {Collective::allreduce, 2 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::allreduce, kAnyBytes, kAnyRanks, "sliced", Where::nodes},
    {Collective::allreduce, kAnyBytes, 2, "recursive_doubling"},
    {Collective::allreduce, 64, 8, "direct", Where::node},
    {Collective::allreduce, 4 << 10, 8, "recursive_doubling", Where::crowded},
    {Collective::allreduce, 16 << 10, 8, "split", Where::crowded},
    {Collective::allreduce, 16 << 10, 4, "recursive_doubling"},
    {Collective::allreduce, 256 << 10, 4, "split", Where::node},
    {Collective::allreduce, 32 << 10, 4, "recursive_doubling"},
    {Collective::allreduce, 16 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::allreduce, 512 << 10, 4, "rabenseifner"},
    {Collective::allreduce, kAnyBytes, 4, "ring"},
    {Collective::allreduce, 32 << 10, 8, "ring", Where::crowded},
    {Collective::allreduce, 128 << 10, 8, "split", Where::crowded},
    {Collective::allreduce, kAnyBytes, 8, "ring", Where::crowded},
    {Collective::allreduce, 512 << 10, kAnyRanks, "rabenseifner"},
    {Collective::allreduce, kAnyBytes, 64, "ring"},
    {Collective::allreduce, kAnyBytes, kAnyRanks, "rabenseifner"},

    {Collective::gather, 4 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::gather, kAnyBytes, 4, "linear"},
    {Collective::gather, 32 << 10, 16, "linear", Where::node},
    {Collective::gather, 4 << 10, kAnyRanks, "binomial"},
    {Collective::gather, kAnyBytes, kAnyRanks, "linear"},

    {Collective::scatter, 4 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::scatter, kAnyBytes, 4, "linear"},
    {Collective::scatter, kAnyBytes, 8, "linear", Where::node},
    {Collective::scatter, 128, 16, "linear", Where::node},
    {Collective::scatter, 4 << 10, kAnyRanks, "binomial"},
    {Collective::scatter, kAnyBytes, kAnyRanks, "linear"},

    {Collective::allgather, 4 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::allgather, kAnyBytes, 2, "linear"},
    {Collective::allgather, 64 << 10, 4, "linear", Where::node},
    {Collective::allgather, kAnyBytes, 8, "linear", Where::crowded},
    {Collective::allgather, kAnyBytes, 4, "neighbor_exchange"},
    {Collective::allgather, 64 << 10, 8, "linear", Where::node},
    {Collective::allgather, 512, kAnyRanks, "recursive_doubling"},
    {Collective::allgather, 2 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::allgather, 2 << 10, 16, "bruck"},
    {Collective::allgather, 64 << 10, 16, "linear", Where::node},
    {Collective::allgather, 4 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::allgather, 4 << 10, kAnyRanks, "bruck"},
    {Collective::allgather, 64 << 10, kAnyRanks, "neighbor_exchange"},
    {Collective::allgather, kAnyBytes, kAnyRanks, "ring"},

    {Collective::allgatherv, 64 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::allgatherv, kAnyBytes, 2, "linear"},
    {Collective::allgatherv, 64 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::allgatherv, 64 << 10, kAnyRanks, "bruck"},
    {Collective::allgatherv, kAnyBytes, kAnyRanks, "ring"},

    {Collective::alltoall, 1 << 10, kAnyRanks, "node_first", Where::nodes},
    {Collective::alltoall, kAnyBytes, 4, "linear"},
    {Collective::alltoall, 256, 8, "linear"},
    {Collective::alltoall, kAnyBytes, 8, "linear", Where::crowded},
    {Collective::alltoall, 256, kAnyRanks, "bruck"},
    {Collective::alltoall, 32 << 10, kAnyRanks, "linear"},
    {Collective::alltoall, kAnyBytes, kAnyRanks, "pairwise"},

    {Collective::alltoallv, kAnyBytes, kAnyRanks, "linear"},

    {Collective::reduce_scatter, 64 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::reduce_scatter, kAnyBytes, kAnyRanks, "ring", Where::nodes},
    {Collective::reduce_scatter, kAnyBytes, 2, "recursive_halving"},
    {Collective::reduce_scatter, kAnyBytes, 4, "direct", Where::node},
    {Collective::reduce_scatter, 16 << 10, 8, "direct", Where::crowded},
    {Collective::reduce_scatter, 2 << 20, 8, "ring", Where::crowded},
    {Collective::reduce_scatter, 256 << 10, 8, "recursive_halving", Where::node},
    {Collective::reduce_scatter, kAnyBytes, 8, "direct", Where::node},
    {Collective::reduce_scatter, 64 << 10, kAnyRanks, "recursive_halving"},
    {Collective::reduce_scatter, 16 << 10, kAnyRanks, "reduce_then_scatter"},
    {Collective::reduce_scatter, kAnyBytes, 16, "pairwise"},
    {Collective::reduce_scatter, kAnyBytes, kAnyRanks, "ring"},
    {Collective::reduce_scatter, kAnyBytes, kAnyRanks, "pairwise"},

    {Collective::scan, 16 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::scan, kAnyBytes, 16, "linear", Where::node},
    {Collective::scan, kAnyBytes, 4, "linear"},
    {Collective::scan, 16 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::scan, kAnyBytes, 16, "linear"},
    {Collective::scan, kAnyBytes, kAnyRanks, "leaders", Where::nodes},
    {Collective::scan, 512 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::scan, kAnyBytes, kAnyRanks, "linear"},

    {Collective::exscan, 16 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::exscan, kAnyBytes, 16, "linear", Where::node},
    {Collective::exscan, kAnyBytes, 4, "linear"},
    {Collective::exscan, 16 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::exscan, kAnyBytes, 16, "linear"},
    {Collective::exscan, kAnyBytes, kAnyRanks, "leaders", Where::nodes},
    {Collective::exscan, 512 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::exscan, kAnyBytes, kAnyRanks, "linear"},
};

}  // namespace

std::span<const BuiltInRule> scattered_rules() { return kScattered; }

std::span<const BuiltInRule> rules_over_tcp() { return kOverTcp; }

std::span<const BuiltInRule> measured_rules() { return kMeasured; }

}  // namespace fab::collectives
