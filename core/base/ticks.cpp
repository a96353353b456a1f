#include "core/base/ticks.h"

#include <chrono>

namespace fab::core {

namespace {

using std::chrono::nanoseconds;

/// Both clocks at one moment.
struct Moment {
  std::uint64_t ticks = 0;
  nanoseconds time{};
};

// A thread that is interrupted between the two would take one for later than the other: the closest pair counts.
Moment this_moment() noexcept {
  constexpr int kTries = 3;
  Moment moment;
  std::uint64_t closest = ~0ull;
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = ticks();
    const nanoseconds time = std::chrono::steady_clock::now().time_since_epoch();
    const std::uint64_t between = ticks() - before;
    if (between >= closest) continue;
    closest = between;
    moment = {before + between / 2, time};
  }
  return moment;
}

const Moment at_load = this_moment();

}  // namespace

#if defined(__x86_64__)
std::atomic<std::uint32_t> ticks_in_1024_ns{2560};
#else
std::atomic<std::uint32_t> ticks_in_1024_ns{1024};
#endif

void measure_ticks() noexcept {
  constexpr nanoseconds kShortest = std::chrono::microseconds(100);
  constexpr double kMost = 64 * 1024;  // 64 GHz: more is no speed of a processor
  const Moment now = this_moment();
  const nanoseconds passed = now.time - at_load.time;
  if (passed < kShortest || now.ticks <= at_load.ticks) return;
  const double speed = 1024 * static_cast<double>(now.ticks - at_load.ticks) / static_cast<double>(passed.count());
  if (speed >= 1 && speed <= kMost)
    ticks_in_1024_ns.store(static_cast<std::uint32_t>(speed), std::memory_order_relaxed);
}

}  // namespace fab::core
