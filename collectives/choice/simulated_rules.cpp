// The built-in rules for nodes of several ranks: what the simulator says.
// clang-format off
// Written by
//   fab_tune simulate --source --bounded -c barrier,bcast,reduce,allreduce,allgather,alltoall,reduce_scatter,scan,exscan --network ethernet-1g,infiniband-edr,infiniband-ndr --ppn 6,20,56 -n 12,48,384,40,160,1280,112,448,3584 -b 8,256,8k,128k --limit 1M -o collectives/choice/simulated_rules.cpp
#include "collectives/choice/built_in_rules.h"

namespace fab::collectives {

namespace {

constexpr BuiltInRule kSimulated[] = {
    {Collective::barrier, kAnyBytes, kAnyRanks, "leaders", Where::nodes, 56},
    {Collective::barrier, kAnyBytes, kAnyRanks, "leaders", Where::nodes, 20},
    {Collective::barrier, kAnyBytes, kAnyRanks, "leaders", Where::nodes, 6},
    {Collective::bcast, 131072, kAnyRanks, "leaders", Where::nodes, 56},
    {Collective::bcast, 131072, 40, "leaders", Where::nodes, 20},
    {Collective::bcast, 32768, kAnyRanks, "leaders", Where::nodes, 20},
    {Collective::bcast, 131072, kAnyRanks, "scatter_allgather", Where::nodes, 20},
    {Collective::bcast, 131072, 12, "leaders", Where::nodes, 6},
    {Collective::bcast, 32768, 48, "leaders", Where::nodes, 6},
    {Collective::bcast, 131072, 48, "scatter_allgather", Where::nodes, 6},
    {Collective::bcast, 1448, kAnyRanks, "binomial", Where::nodes, 6},
    {Collective::bcast, 131072, kAnyRanks, "leaders", Where::nodes, 6},
    {Collective::reduce, 1448, kAnyRanks, "leaders", Where::nodes, 56},
    {Collective::reduce, 32768, kAnyRanks, "rabenseifner", Where::nodes, 56},
    {Collective::reduce, 131072, kAnyRanks, "leaders", Where::nodes, 56},
    {Collective::reduce, 1448, kAnyRanks, "leaders", Where::nodes, 20},
    {Collective::reduce, 32768, kAnyRanks, "rabenseifner", Where::nodes, 20},
    {Collective::reduce, 131072, kAnyRanks, "leaders", Where::nodes, 20},
    {Collective::reduce, 131072, 12, "leaders", Where::nodes, 6},
    {Collective::reduce, 1448, 48, "leaders", Where::nodes, 6},
    {Collective::reduce, 131072, 48, "rabenseifner", Where::nodes, 6},
    {Collective::reduce, 1448, kAnyRanks, "binomial", Where::nodes, 6},
    {Collective::reduce, 131072, kAnyRanks, "rabenseifner", Where::nodes, 6},
    {Collective::allreduce, 1448, kAnyRanks, "leaders", Where::nodes, 56},
    {Collective::allreduce, 131072, kAnyRanks, "sliced", Where::nodes, 56},
    {Collective::allreduce, 1448, kAnyRanks, "leaders", Where::nodes, 20},
    {Collective::allreduce, 131072, kAnyRanks, "sliced", Where::nodes, 20},
    {Collective::allreduce, 1448, kAnyRanks, "leaders", Where::nodes, 6},
    {Collective::allreduce, 131072, kAnyRanks, "sliced", Where::nodes, 6},
    {Collective::allgather, 1448, kAnyRanks, "leaders", Where::nodes, 56},
    {Collective::allgather, 131072, kAnyRanks, "neighbor_exchange", Where::nodes, 56},
    {Collective::allgather, 1448, 40, "leaders", Where::nodes, 20},
    {Collective::allgather, 32768, 40, "neighbor_exchange", Where::nodes, 20},
    {Collective::allgather, 131072, 40, "ring", Where::nodes, 20},
    {Collective::allgather, 1448, kAnyRanks, "leaders", Where::nodes, 20},
    {Collective::allgather, 131072, kAnyRanks, "neighbor_exchange", Where::nodes, 20},
    {Collective::allgather, 1448, 12, "leaders", Where::nodes, 6},
    {Collective::allgather, 131072, 12, "ring", Where::nodes, 6},
    {Collective::allgather, 1448, 48, "leaders", Where::nodes, 6},
    {Collective::allgather, 32768, 48, "neighbor_exchange", Where::nodes, 6},
    {Collective::allgather, 131072, 48, "ring", Where::nodes, 6},
    {Collective::allgather, 45, kAnyRanks, "leaders", Where::nodes, 6},
    {Collective::allgather, 1448, kAnyRanks, "bruck", Where::nodes, 6},
    {Collective::allgather, 32768, kAnyRanks, "neighbor_exchange", Where::nodes, 6},
    {Collective::allgather, 131072, kAnyRanks, "ring", Where::nodes, 6},
    {Collective::alltoall, 1448, kAnyRanks, "node_first", Where::nodes, 56},
    {Collective::alltoall, 131072, kAnyRanks, "linear", Where::nodes, 56},
    {Collective::alltoall, 1448, kAnyRanks, "node_first", Where::nodes, 20},
    {Collective::alltoall, 131072, kAnyRanks, "linear", Where::nodes, 20},
    {Collective::alltoall, 1448, kAnyRanks, "node_first", Where::nodes, 6},
    {Collective::alltoall, 131072, kAnyRanks, "linear", Where::nodes, 6},
    {Collective::reduce_scatter, 1448, kAnyRanks, "leaders", Where::nodes, 56},
    {Collective::reduce_scatter, 131072, kAnyRanks, "ring", Where::nodes, 56},
    {Collective::reduce_scatter, 1448, kAnyRanks, "leaders", Where::nodes, 20},
    {Collective::reduce_scatter, 131072, kAnyRanks, "ring", Where::nodes, 20},
    {Collective::reduce_scatter, 1448, 48, "leaders", Where::nodes, 6},
    {Collective::reduce_scatter, 131072, 48, "ring", Where::nodes, 6},
    {Collective::reduce_scatter, 45, kAnyRanks, "leaders", Where::nodes, 6},
    {Collective::reduce_scatter, 1448, kAnyRanks, "recursive_halving", Where::nodes, 6},
    {Collective::reduce_scatter, 131072, kAnyRanks, "ring", Where::nodes, 6},
    {Collective::scan, 131072, kAnyRanks, "leaders", Where::nodes, 56},
    {Collective::scan, 131072, kAnyRanks, "leaders", Where::nodes, 20},
    {Collective::scan, 131072, kAnyRanks, "leaders", Where::nodes, 6},
    {Collective::exscan, 131072, kAnyRanks, "leaders", Where::nodes, 56},
    {Collective::exscan, 131072, kAnyRanks, "leaders", Where::nodes, 20},
    {Collective::exscan, 131072, kAnyRanks, "leaders", Where::nodes, 6},
};

}  // namespace

std::span<const BuiltInRule> simulated_rules() { return kSimulated; }

}  // namespace fab::collectives
