// Messages of which each of three ranks sends another number, of another size, to the next rank. Rank 1 is late to each
// of its own. tests/tools/statistics_test.py knows the amounts.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "fab/fab.h"

namespace {

struct Messages {
  int count;
  std::size_t bytes;
};

constexpr std::array<Messages, 3> kSent{{{2, 8}, {20, 20'000}, {7, 400'000}}};
constexpr fab::Rank kLate = 1;
constexpr std::chrono::milliseconds kLateBy{10};

void exchange(const fab::Communicator& world) {
  const fab::Rank ranks = world.size();
  const fab::Rank before = (world.rank() + ranks - 1) % ranks;
  const Messages mine = kSent[static_cast<std::size_t>(world.rank())];
  const Messages its = kSent[static_cast<std::size_t>(before)];
  const std::vector<std::byte> sent(mine.bytes);
  std::vector<fab::Request> sends;
  for (int i = 0; i < mine.count; ++i) {
    if (world.rank() == kLate) std::this_thread::sleep_for(kLateBy);
    sends.push_back(fab::isend(world, sent, {(world.rank() + 1) % ranks}));
  }
  std::vector<std::byte> received(its.bytes);
  for (int i = 0; i < its.count; ++i) fab::recv(world, received, {before});
  for (fab::Request& send : sends) send.wait();
}

}  // namespace

int main() {
  fab::Context context = fab::Context::open();
  if (context.size() != static_cast<int>(kSent.size())) {
    std::fprintf(stderr, "the job has %d ranks, and needs %zu\n", context.size(), kSent.size());
    return EXIT_FAILURE;
  }
  exchange(context.world());
  context.close();
  return EXIT_SUCCESS;
}
