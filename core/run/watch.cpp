#include "core/run/watch.h"

#include <fmt/core.h>

#include <numeric>
#include <utility>

#include "core/failure/refusals.h"
#include "core/job/membership.h"

namespace fab::core {

Watch::Watch(std::span<Pending* const> all, Runtime& runtime) : Watch(all, runtime, runtime.config().wait_timeout_s) {}

Watch::Watch(std::span<Pending* const> all, Runtime& runtime, double timeout_s)
    : all_(all), runtime_(runtime), timeout_s_(timeout_s), looked_at_(ticks()), seen_(settled()) {}

// A wait that ends at once never reads the clock.
void Watch::look() {
  looked_at_ = ticks();
  const bool moved = settled() != seen_;
  if (moved || !started_) restart();
  const auto now = runtime_.now();
  if (timeout_s_ > 0 && std::chrono::duration<double>(now - since_).count() >= timeout_s_) {
    for (Pending* each : all_)
      if (each != nullptr) expire(*each);
    return restart();
  }
  if (now - since_ >= Refusals::kAskAfter) ask();
  if (!said_ && now - since_ >= kSayAfter) say();
}

void Watch::restart() {
  started_ = true;
  seen_ = settled();
  since_ = runtime_.now();
}

std::uint64_t Watch::settled() const {
  return std::accumulate(all_.begin(), all_.end(), std::uint64_t{0}, [](std::uint64_t sum, const Pending* each) {
    return each == nullptr ? sum : sum + each->settled_count();
  });
}

void Watch::expire(Pending& pending) const {
  const Lock lock(pending.membership().engine());
  pending.abandon(
      {make_error_code(Errc::timed_out), fmt::format("{}: no progress for {} s (FAB_WAIT_TIMEOUT); still pending: {}",
                                                     pending.name(), timeout_s_, pending.describe_pending())});
}

void Watch::ask() {
  for (Pending* each : all_) {
    if (each == nullptr || each->done()) continue;
    const Lock lock(each->membership().engine());
    if (!each->done()) each->stalled();
  }
}

void watch_tested(std::span<Pending* const> all) {
  for (Pending* each : all)
    if (each != nullptr && !each->done() && ticks() - each->tested.looked_at >= ticks_in(Watch::kLookEvery))
      look_at_tested(*each);
}

namespace {

bool stands_still(const Pending& pending, Tested& tested) {
  const bool first = std::exchange(tested.looked_at, ticks()) == 0;
  const bool moved = std::exchange(tested.seen, pending.settled_count()) != tested.seen;
  const auto now = pending.membership().runtime().now();
  if (first || moved) tested.since = now;
  return now - tested.since >= Refusals::kAskAfter;
}

}  // namespace

void look_at_tested(Pending& pending) {
  if (!stands_still(pending, pending.tested)) return;
  const Lock lock(pending.membership().runtime().engine());
  if (!pending.done()) pending.stalled();
}

void watch_tested(Pending& pending, Tested& tested) {
  if (pending.done() || ticks() - tested.looked_at < ticks_in(Watch::kLookEvery)) return;
  if (stands_still(pending, tested)) pending.stalled();
}

void Watch::say() {
  said_ = true;
  for (Pending* each : all_) {
    if (each == nullptr) continue;
    const Lock lock(each->membership().engine());
    if (each->done()) continue;
    const bool hint = each->is_collective() && !runtime_.config().check;
    runtime_.log().write(LogLevel::warn, "{}: no progress for {} s; still pending: {}{}", each->name(),
                         kSayAfter.count(), each->describe_pending(),
                         hint ? "; FAB_CHECK=1 finds ranks that make different calls" : "");
    return;
  }
}

}  // namespace fab::core
