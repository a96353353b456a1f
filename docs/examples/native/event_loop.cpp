// One loop for the network and for everything else: each rank greets the next one three times, a tenth of a second
// apart, and sleeps in poll() until the clock or a greeting wakes it.
#include <fab/fab.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <string>

int main() {
  constexpr int kGreetings = 3;
  const auto context = fab::Context::open();
  const fab::Communicator& world = context.world();
  const fab::Rank next = (world.rank() + 1) % world.size();
  const fab::Rank previous = (world.rank() + world.size() - 1) % world.size();
  fab::Completions completions(context);

  const int clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec tenths{{0, 100'000'000}, {0, 100'000'000}};
  timerfd_settime(clock, 0, &tenths, nullptr);

  int sent = 0;
  int received = 0;
  std::string greeting;
  std::array<char, 80> room{};
  std::function<void()> expect_greeting = [&] {
    room.fill(0);
    completions.when_done(fab::irecv(world, room, {previous}), [&](const fab::Status& status) {
      std::printf("rank %d hears: %s\n", world.rank(), status.ok() ? room.data() : status.message.c_str());
      if (++received < kGreetings) expect_greeting();
    });
  };
  expect_greeting();

  while (sent < kGreetings || completions.size() > 0) {
    pollfd events[] = {{completions.fd(), POLLIN, 0}, {clock, POLLIN, 0}};
    if (poll(events, 2, -1) < 0) break;
    if (events[0].revents != 0) completions.run_ready();
    std::uint64_t ticks = 0;
    if (events[1].revents == 0 || read(clock, &ticks, sizeof(ticks)) != sizeof(ticks)) continue;
    if (sent == kGreetings) continue;
    greeting = "greeting " + std::to_string(++sent) + " of rank " + std::to_string(world.rank());
    fab::send(world, greeting, {next});
  }
  close(clock);
}
