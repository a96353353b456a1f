// Step 1: the ranks of the job, laid out as a grid.
#include <fab/fab.h>

#include <cstdio>
#include <string>

int main() {
  const auto context = fab::Context::open();
  const auto grid = context.world().cartesian(fab::dims_create(context.size(), {0, 0}), {false, false});

  std::string neighbors;
  for (const fab::Edge& edge : grid.neighborhood().destinations) neighbors += " " + std::to_string(edge.peer);
  std::printf("rank %d of %d has the neighbours%s\n", grid.rank(), grid.size(), neighbors.c_str());
}
