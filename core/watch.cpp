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
  for (Pending* each : all_)
    if (each != nullptr) expire(*each);
  restart();
}

void Watch::restart() {
  if (timeout_s_ <= 0) return;
  seen_ = settled();
  end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s_));
}

std::uint64_t Watch::settled() const {
  return std::accumulate(all_.begin(), all_.end(), std::uint64_t{0}, [](std::uint64_t sum, const Pending* each) {
    return each == nullptr ? sum : sum + each->settled_count();
  });
}

void Watch::expire(Pending& pending) const {
  const Lock lock(pending.communicator().engine().mutex);
  pending.abandon({make_error_code(Errc::timed_out),
                   fmt::format("{}: nothing happened for {} s (FAB_WAIT_TIMEOUT); still pending: {}", pending.name(),
                               timeout_s_, pending.describe_pending())});
}

}  // namespace fab::core
