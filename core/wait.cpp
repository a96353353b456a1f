#include "core/wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "core/communicator.h"
#include "core/context.h"

namespace fab::core {

namespace {

using Clock = std::chrono::steady_clock;

/// Notices when runs stop moving.
class Watch {
 public:
  Watch(std::span<Run* const> runs, double timeout_s) : runs_(runs), timeout_s_(timeout_s) { restart(); }

  /// Call while nothing happens.
  void check() {
    if (timeout_s_ <= 0) return;
    if (settled() != seen_) restart();
    if (Clock::now() < end_) return;
    for (Run* run : runs_)
      if (run != nullptr) expire(*run);
    restart();
  }

 private:
  void restart() {
    if (timeout_s_ <= 0) return;
    seen_ = settled();
    end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s_));
  }
  [[nodiscard]] std::uint64_t settled() const {
    return std::accumulate(runs_.begin(), runs_.end(), std::uint64_t{0}, [](std::uint64_t sum, const Run* run) {
      return run == nullptr ? sum : sum + run->settled_count();
    });
  }
  void expire(Run& run) const {
    Engine& engine = run.plan().communicator().engine();
    const Lock lock(engine.mutex);
    run.abandon({make_error_code(Errc::timed_out),
                 fmt::format("{}: nothing happened for {} s (FAB_WAIT_TIMEOUT); still pending: {}",
                             run.plan().schedule().name(), timeout_s_, run.describe_pending())});
  }

  std::span<Run* const> runs_;
  double timeout_s_;
  std::uint64_t seen_ = 0;
  Clock::time_point end_;
};

Engine& engine_of(const Run& run) { return run.plan().communicator().engine(); }

}  // namespace

void wait(Run& run, IdleHook idle) {
  if (run.done()) return;
  Driver driver(engine_of(run), idle);
  Run* const runs[] = {&run};
  Watch watch(runs, run.plan().communicator().context().config().wait_timeout_s);
  while (!run.done()) {
    if (driver.step()) continue;
    watch.check();
    if (!run.done()) driver.rest();
  }
}

bool test(Run& run) {
  if (run.done()) return true;
  Engine& engine = engine_of(run);
  const Lock lock(engine.mutex);
  engine.progress();
  return run.done();
}

std::size_t wait_any(std::span<Run* const> runs, IdleHook idle) {
  const auto is_done = [](const Run* run) { return run != nullptr && run->done(); };
  const auto first_done = [&] { return std::find_if(runs.begin(), runs.end(), is_done); };
  auto found = first_done();
  if (found == runs.end()) {
    const Run* some = *std::find_if(runs.begin(), runs.end(), [](const Run* run) { return run != nullptr; });
    Driver driver(engine_of(*some), idle);
    Watch watch(runs, some->plan().communicator().context().config().wait_timeout_s);
    while ((found = first_done()) == runs.end()) {
      if (driver.step()) continue;
      watch.check();
      if (first_done() == runs.end()) driver.rest();
    }
  }
  return static_cast<std::size_t>(found - runs.begin());
}

}  // namespace fab::core
