// Step 2: each rank sends a number to each neighbour, and gets one from each.
#include <fab/fab.h>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  const auto context = fab::Context::open();
  const auto grid = context.world().cartesian(fab::dims_create(context.size(), {0, 0}), {false, false});

  const std::size_t neighbors = grid.neighborhood().destinations.size();
  const std::vector<int> mine(neighbors, 100 + grid.rank());  // block i goes to neighbour i
  std::vector<int> theirs(neighbors);                         // block i comes from neighbour i
  fab::neighbor_xchg(grid, mine, theirs);

  std::string got;
  for (const int number : theirs) got += " " + std::to_string(number);
  std::printf("rank %d got%s\n", grid.rank(), got.c_str());
}
