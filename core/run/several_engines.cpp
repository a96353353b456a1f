#include "core/run/several_engines.h"

#include <sched.h>

#include <algorithm>
#include <thread>

#include "core/job/membership.h"

namespace fab::core {

SeveralEngines::SeveralEngines(std::span<Pending* const> all) {
  for (const Pending* each : all) {
    if (each == nullptr) continue;
    Engine* const engine = &each->membership().engine();
    if (std::ranges::find(engines_, engine) == engines_.end()) engines_.push_back(engine);
  }
  for (Engine* each : engines_) each->thread_call().resume_polling();
}

bool SeveralEngines::needed(std::span<Pending* const> all) noexcept {
  const Engine* first = nullptr;
  for (const Pending* each : all) {
    if (each == nullptr) continue;
    const Engine* const engine = &each->membership().engine();
    if (first != nullptr && engine != first) return true;
    first = engine;
  }
  return false;
}

void SeveralEngines::poll() {
  for (Engine* each : engines_) each->poll_once();
}

void SeveralEngines::rest(Clock::time_point end) {
  const Clock::time_point now = Clock::now();
  if (now - begun_ < kYields) {
    ::sched_yield();
    return;
  }
  if (now < end) std::this_thread::sleep_for(std::min<Clock::duration>(nap_, end - now));
  nap_ = std::min(2 * nap_, kLongestNap);
}

}  // namespace fab::core
