// Heat by several threads of each rank: they share the block, a slab each.
#ifndef BENCH_APPS_HEAT_THREADS_H
#define BENCH_APPS_HEAT_THREADS_H

#include "fab/fab.h"
#include "heat_block.h"

namespace apps::heat {

struct ThreadsRun {
  int threads = 1;
  int steps = 1;
  int turns = 1;
  bool at_once = false;  // a thread computes its slab as one, and its cells at the faces travel afterwards
};

// Two ways, compared as turns.h does. In both a thread first computes its cells at the faces, which travel while all
// compute the others, unless `at_once`. In parts: the thread marks its part of the faces. Whole: the threads wait for
// each other, and one of them starts the exchange. Collective over `world`.
int compare_threads(const Block& block, const fab::Communicator& world, const fab::HaloOptions& options,
                    const ThreadsRun& run);

}  // namespace apps::heat

#endif
