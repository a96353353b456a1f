#include <fab/fab.h>

#include <algorithm>
#include <cstdio>

int main() {
  constexpr std::size_t n = 500;  // own cells per dimension
  const auto context = fab::Context::open();
  fab::HaloExchange halo(context.world(), {.grid = {context.size(), 1},
                                           .periodic = {false, true},
                                           .block = {.interior = {n, n}, .width = {1, 1}},
                                           .buffers = 2});
  const fab::HaloGeometry& block = halo.geometry();
  const std::size_t row = block.strides()[0];
  if (!halo.neighbor({-1, 0}))  // a hot wall: where the grid ends, halo cells keep what is written there
    for (int i = 0; i < 2; ++i, halo.flip()) std::fill_n(halo.field<double>().data(), row, 1.0);

  for (int step = 0; step < 1000; ++step) {
    const double* now = halo.field<double>().data();
    double* next = halo.other_field<double>().data();
    const auto relax = [&](const fab::Box& box) {
      for (std::size_t y = box.start[0]; y < box.start[0] + box.size[0]; ++y)
        for (std::size_t x = box.start[1]; x < box.start[1] + box.size[1]; ++x) {
          const std::size_t i = y * row + x;
          next[i] = (now[i - row] + now[i + row] + now[i - 1] + now[i + 1]) / 4;
        }
    };
    halo.start();
    relax({{2, 2}, {n - 2, n - 2}});               // needs no halo
    while (const auto side = halo.finish_any()) {  // in the order in which they come
      fab::Box edge = block.boundary(*side);
      const std::size_t along = (*side)[0] != 0 ? 1 : 0;
      ++edge.start[along];
      edge.size[along] -= 2;
      relax(edge);
    }
    for (const std::size_t y : {std::size_t{1}, n})  // these need two halos
      for (const std::size_t x : {std::size_t{1}, n}) relax({{y, x}, {1, 1}});
    halo.flip();
  }
  if (context.rank() == 0) std::printf("next to the wall: %g\n", halo.field<double>()[row + 1]);
}
