// Each thread of a rank takes part in a ring of its own, on an engine of its own.
#include <fab/fab.h>

#include <cstdio>
#include <thread>
#include <vector>

int main() {
  constexpr int threads = 3;
  const auto context = fab::Context::open({.engines = threads});
  std::vector<int> sums(threads);
  const auto work = [&](int thread) {
    const fab::Communicator& world = context.world(thread);
    const fab::Communicator ring = world.cartesian({world.size()}, {true});
    const int mine = 10 * world.rank() + thread;
    for (int step = 0; step < 1000; ++step) {
      const std::vector<int> out = {mine, mine};
      std::vector<int> in(2);
      fab::neighbor_xchg(ring, out, in);
      sums[static_cast<std::size_t>(thread)] += in[0] + in[1];
    }
  };
  {
    std::vector<std::jthread> all;
    for (int thread = 0; thread < threads; ++thread) all.emplace_back(work, thread);
  }
  if (context.rank() == 0) std::printf("from both neighbours, 1000 times: %d, %d, %d\n", sums[0], sums[1], sums[2]);
}
