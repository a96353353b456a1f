#include "core/watch.h"

#include <fmt/format.h>

#include <numeric>

#include "core/communicator.h"
#include "core/engine.h"

namespace fab::core {

void Watch::check() {
  if (timeout_s_ <= 0) return;
  if (settled() != seen_) restart();
  if (Clock::now() < end_) return;
  for (Run* run : runs_)
    if (run != nullptr) expire(*run);
  restart();
}

void Watch::restart() {
  if (timeout_s_ <= 0) return;
  seen_ = settled();
  end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s_));
}

std::uint64_t Watch::settled() const {
  return std::accumulate(runs_.begin(), runs_.end(), std::uint64_t{0}, [](std::uint64_t sum, const Run* run) {
    return run == nullptr ? sum : sum + run->settled_count();
  });
}

void Watch::expire(Run& run) const {
  Engine& engine = run.plan().communicator().engine();
  const Lock lock(engine.mutex);
  run.abandon({make_error_code(Errc::timed_out),
               fmt::format("{}: nothing happened for {} s (FAB_WAIT_TIMEOUT); still pending: {}",
                           run.plan().schedule().name(), timeout_s_, run.describe_pending())});
}

}  // namespace fab::core
