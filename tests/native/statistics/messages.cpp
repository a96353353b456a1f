// Messages from rank to rank: each rank sends to the next one and receives from the one before, so many rounds, in each
// a message of every size of kBytes. Usage: fab_native_messages ROUNDS
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "fab/fab.h"
#include "fab/statistics.h"

namespace {

/// In a frame with its envelope; announced first; in several parts.
constexpr std::array<std::size_t, 3> kBytes{8, 8000, 400'000};

/// What this rank has received from another one, as its statistics have it.
fab::MessageAmounts received_from(const fab::Context& context, int rank) {
  for (const fab::PeerStatistics& peer : context.statistics().peers)
    if (peer.rank == rank) return peer.received;
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  fab::Context context = fab::Context::open();
  const fab::Communicator world = context.world();
  const int next = (world.rank() + 1) % world.size();
  const int before = (world.rank() + world.size() - 1) % world.size();
  for (int round = 0; round < rounds; ++round)
    for (const std::size_t bytes : kBytes) {
      const std::vector<int> sent(bytes / sizeof(int), 1000 * world.rank() + round);
      std::vector<int> received(bytes / sizeof(int), -1);
      const fab::Tag tag{round};
      fab::Request receive = fab::irecv(world, received, {before, tag});
      fab::Request send = fab::isend(world, sent, {next, tag});
      receive.wait();
      send.wait();
      if (received == std::vector<int>(bytes / sizeof(int), 1000 * before + round)) continue;
      std::fprintf(stderr, "rank %d: wrong data in round %d, %zu bytes\n", world.rank(), round, bytes);
      return EXIT_FAILURE;
    }
  fab::MessageAmounts expected;
  for (const std::size_t bytes : kBytes) expected.add({1, bytes}, static_cast<std::uint64_t>(rounds));
  if (world.size() > 1 && received_from(context, before) != expected) {
    std::fprintf(stderr, "rank %d counted %s\n", world.rank(), context.statistics().json().c_str());
    return EXIT_FAILURE;
  }
  context.close();
  return EXIT_SUCCESS;
}
