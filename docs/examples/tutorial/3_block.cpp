// Step 3: heat spreads over a plate. Each rank has a block of it, and exchanges the cells along its four sides.
#include <fab/fab.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

int main() {
  constexpr std::size_t plate = 240;  // cells in each dimension
  const auto context = fab::Context::open();
  const std::vector<int> dims = fab::dims_create(context.size(), {0, 0});
  const auto grid = context.world().cartesian(dims, {false, false});
  const fab::Cartesian place(dims, {false, false});

  // This rank's cells, with a halo of one cell around them.
  const std::size_t own[] = {plate / static_cast<std::size_t>(dims[0]), plate / static_cast<std::size_t>(dims[1])};
  const std::size_t padded[] = {own[0] + 2, own[1] + 2};
  const std::size_t row = padded[1];
  std::vector<double> now(padded[0] * padded[1]), next(padded[0] * padded[1]);

  // For each neighbour, in fab's order: the cells that it gets, and the halo that it fills.
  std::vector<fab::BlockShape> boundary, halo;
  for (int d = 0; d < 2; ++d)
    for (const int step : {+1, -1}) {
      if (!place.shift(grid.rank(), fab::Dimension{d}, step).destination) continue;  // the plate ends on that side
      const auto line = [&](std::size_t where) {
        std::size_t start[] = {1, 1}, size[] = {own[0], own[1]};
        start[d] = where;
        size[d] = 1;
        return fab::BlockShape{0, fab::Layout::subarray(padded, size, start, fab::Layout::contiguous(sizeof(double)))};
      };
      boundary.push_back(line(step > 0 ? own[d] : 1));
      halo.push_back(line(step > 0 ? own[d] + 1 : 0));
    }

  // The upper side of the plate is hot.
  if (place.coordinates(grid.rank())[0] == 0)
    for (std::vector<double>* field : {&now, &next}) std::fill_n(field->begin(), row, 1.0);

  for (int step = 0; step < 1000; ++step) {
    fab::neighbor_xchgv(grid, now.data(), boundary, now.data(), halo);
    for (std::size_t y = 1; y <= own[0]; ++y)
      for (std::size_t x = 1; x <= own[1]; ++x) {
        const std::size_t i = y * row + x;
        next[i] = (now[i - row] + now[i + row] + now[i - 1] + now[i + 1]) / 4;
      }
    std::swap(now, next);
  }

  double sum = 0;
  for (std::size_t y = 1; y <= own[0]; ++y)
    for (std::size_t x = 1; x <= own[1]; ++x) sum += now[y * row + x];
  fab::allreduce(grid, sum, fab::ReduceOp::sum);
  if (grid.rank() == 0) std::printf("mean temperature: %.6f\n", sum / (plate * plate));
}
