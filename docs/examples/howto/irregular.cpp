// A pattern that changes: each rank sends work to ranks that it chooses, and does not know the ranks that send to it.
#include <fab/fab.h>

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  const auto context = fab::Context::open();
  const fab::Communicator& world = context.world();
  const int size = world.size();
  constexpr fab::Tag tag{7};

  // Rank r sends r numbers to each rank above it.
  const std::vector<int> work(static_cast<std::size_t>(world.rank()), world.rank());
  std::vector<fab::Request> sends;
  for (int to = world.rank() + 1; to < size; ++to) sends.push_back(fab::isend(world, work, {to, tag}));

  int sum = 0;
  for (int messages = 0; messages < world.rank(); ++messages) {
    const fab::MessageInfo found = fab::probe(world, {fab::kAnySource, tag});
    std::vector<int> numbers(found.count<int>());
    fab::recv(world, numbers, {found.source, tag});
    sum = std::accumulate(numbers.begin(), numbers.end(), sum);
  }
  fab::Request::wait_all(sends);
  std::printf("rank %d got a sum of %d\n", world.rank(), sum);
}
