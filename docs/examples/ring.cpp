#include <fab/fab.h>

#include <cstdio>
#include <vector>

int main() {
  const auto context = fab::Context::open();
  const auto ring = context.world().cartesian({context.size()}, {true});

  const std::vector<double> mine(2 * 1000, context.rank());  // a block for each neighbour
  std::vector<double> theirs(2 * 1000);
  fab::Request request = fab::neighbor_xchg.start(ring, mine, theirs);
  // ... compute ...
  request.wait();
  std::printf("rank %d: right %g, left %g\n", context.rank(), theirs.front(), theirs.back());
}
