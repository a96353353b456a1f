// Exchanges in a ring before which one rank is late. Usage: fab_native_late LATE_RANK EXCHANGES [KILLED_RANK]
// KILLED_RANK ends by a signal before it closes fab. Each rank checks what it has counted itself.
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "fab/fab.h"
#include "fab/statistics.h"

namespace {

constexpr std::chrono::milliseconds kLate{5};

int number(char** argv, int argc, int place, int otherwise) {
  return argc > place ? std::atoi(argv[place]) : otherwise;
}

/// What came from peers is what its operations received: there are no messages of a rank to itself.
bool add_up(const fab::Statistics& statistics) {
  fab::MessageAmounts received;
  for (const fab::PeerStatistics& peer : statistics.peers) received.add(peer.received);
  return received == statistics.totals().received;
}

/// The exchanges of this rank, as its statistics have them.
bool counts(const fab::Context& context, int exchanges) {
  const fab::Statistics statistics = context.statistics();
  const std::uint64_t messages = context.size() == 1 ? 0 : 2 * static_cast<std::uint64_t>(exchanges);
  for (const fab::OperationStatistics& operation : statistics.operations)
    if (operation.operation == "neighbor_xchg")
      return operation.calls == static_cast<std::uint64_t>(exchanges) && operation.sent.messages == messages &&
             operation.sent.bytes == sizeof(double) * messages && operation.received == operation.sent &&
             add_up(statistics);
  return exchanges == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int late_rank = number(argv, argc, 1, -1);
  const int exchanges = number(argv, argc, 2, 100);
  const int killed_rank = number(argv, argc, 3, -1);
  fab::Context context = fab::Context::open();
  const fab::Communicator ring = context.world().cartesian({context.size()}, {true});
  const std::array<double, 2> out{};
  std::array<double, 2> in{};
  for (int i = 0; i < exchanges; ++i) {
    if (context.rank() == late_rank) std::this_thread::sleep_for(kLate);
    fab::neighbor_xchg(ring, out, in);
  }
  if (!counts(context, exchanges)) {
    std::fprintf(stderr, "rank %d counted %s\n", context.rank(), context.statistics().json().c_str());
    return EXIT_FAILURE;
  }
  if (context.rank() == killed_rank) std::raise(SIGKILL);
  context.close();
  return EXIT_SUCCESS;
}
