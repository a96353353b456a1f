// Heat spreads over a plate without edges. The threads of a rank share its block, a slab each, and send their parts of
// the boundary as soon as they have computed them.
#include <fab/fab.h>

#include <barrier>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
  constexpr std::size_t n = 300;  // own cells per dimension
  constexpr std::size_t threads = 3;
  const auto context = fab::Context::open();
  fab::HaloExchange halo(context.world(),
                         {.grid = {context.size(), 1},
                          .periodic = {true, true},
                          .block = {.interior = {n, n}, .width = {1, 1}},
                          .buffers = 2},
                         fab::HaloParts{.count = threads});
  const std::size_t row = halo.geometry().strides()[0];
  double* field[2] = {halo.field<double>().data(), halo.other_field<double>().data()};
  if (context.rank() == 0) field[0][row + 1] = 1000;  // a hot cell in a corner
  halo.start();
  for (std::size_t part = 0; part < threads; ++part) halo.ready(part);
  halo.finish();

  std::barrier meeting(threads);
  const auto work = [&](std::size_t thread) {
    const fab::Box slab = halo.part(thread);
    const std::size_t end = slab.start[0] + slab.size[0];
    for (int step = 0; step < 400; ++step) {
      const double* now = field[step % 2];
      double* next = field[1 - step % 2];
      const auto relax = [&](std::size_t y, std::size_t first, std::size_t last) {
        for (std::size_t i = y * row + first; i <= y * row + last; ++i)
          next[i] = now[i] / 2 + (now[i - row] + now[i + row] + now[i - 1] + now[i + 1]) / 8;
      };
      if (thread == 0) {
        halo.flip();  // to the field that this step computes
        halo.start();
      }
      meeting.arrive_and_wait();
      for (std::size_t y = slab.start[0]; y < end; ++y) {
        if (y == 1 || y == n)
          relax(y, 1, n);
        else
          relax(y, 1, 1), relax(y, n, n);
      }
      halo.ready(thread);  // its boundary cells leave while it computes the others
      for (std::size_t y = slab.start[0]; y < end; ++y)
        if (y != 1 && y != n) relax(y, 2, n - 1);
      meeting.arrive_and_wait();
      if (thread == 0) halo.finish();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    work(0);
  }

  double heat = 0;
  for (std::size_t y = 1; y <= n; ++y)
    for (std::size_t x = 1; x <= n; ++x) heat += field[0][y * row + x];
  fab::reduce(context.world(), heat, fab::ReduceOp::sum);
  if (context.rank() == 0) std::printf("heat of the plate: %.3f\n", heat);
}
