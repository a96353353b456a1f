// Each rank has numbers for a rank that it alone knows. First all find out from whom how many will come.
#include <fab/fab.h>

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  const auto context = fab::Context::open();
  const fab::Communicator& world = context.world();

  // Rank r sends r + 1 numbers to rank r / 2.
  const std::vector<fab::Rank> destinations = {world.rank() / 2};
  const std::vector<int> numbers(static_cast<std::size_t>(world.rank() + 1), world.rank());
  const std::vector<std::size_t> own_counts = {numbers.size()};
  const auto [sources, counts] = fab::discover(world, destinations, own_counts);

  std::vector<std::vector<int>> received;
  for (const std::size_t count : counts) received.emplace_back(count);
  std::vector<fab::Request> requests;
  for (std::size_t i = 0; i < sources.size(); ++i) requests.push_back(fab::irecv(world, received[i], {sources[i]}));
  requests.push_back(fab::isend(world, numbers, {destinations[0]}));
  fab::Request::wait_all(requests);

  int sum = 0;
  for (const std::vector<int>& each : received) sum = std::accumulate(each.begin(), each.end(), sum);
  std::printf("rank %d has %zu sources, and a sum of %d\n", world.rank(), sources.size(), sum);
}
