// A turn of the progress thread: it polls, sleeps or backs off, as its policy says.
#include <poll.h>

#include <algorithm>
#include <optional>

#include "core/progress/engine.h"

namespace fab::core {

ProgressPolicy::Turn Engine::take_turn(Policy& policy, Sleep::End last_sleep, ParkedSleep& parked) {
  const Lock lock(*this);
  const bool was_waiting = call_.state(std::memory_order_relaxed) == ThreadState::waiting;
  if (was_waiting && sleep_.look_for_missed(last_sleep) > 0) happened();
  call_.set_state(ThreadState::awake, std::memory_order_relaxed);
  if (!thread_wanted()) {
    call_.set_state(ThreadState::parked, std::memory_order_relaxed);
    rest_from_turns(policy.rest(static_cast<unsigned>(turns_), drivers() > 0), parked);
    return Policy::Turn::unwanted;
  }
  policy.take_turn();
  if (progress() > 0) return Policy::Turn::worked;
  if (sleep_.is_possible() && may_sleep()) {
    // If a caller drives before the thread sleeps, it is parked for so long.
    parked = {{}, lookout_ == nullptr ? Policy::kSafetyTimeout : kLookPeriod};
    call_.set_state(ThreadState::waiting, std::memory_order_relaxed);
    sleep_.watch_over();
  } else if (const std::optional<Policy::Time> back_off = policy.back_off()) {
    parked = {{}, *back_off};
    call_.set_state(ThreadState::parked, std::memory_order_relaxed);
  }
  return Policy::Turn::idle;
}

void Engine::rest_from_turns(const Policy::Rest& rest, ParkedSleep& parked) {
  if (rest.may_call_late) call_.allow_late_calls(*rest.may_call_late);
  parked = {};
  look_after_held_back(rest, parked);
  if (lookout_ == nullptr) return;
  lookout_->answer();
  if (const int fd = lookout_->idle_fd(); fd >= 0) parked.also.push_back({fd, POLLIN, 0});
}

// A driver polls these providers, too. Only when no thread has for some time the progress thread does, and from then on
// it sleeps on their descriptors, which tell when the kernel has room again, or looks again after longer and longer
// times.
void Engine::look_after_held_back(const Policy::Rest& rest, ParkedSleep& parked) {
  for (Provider* provider : providers_) {
    if (!provider->capabilities().may_hold_back) continue;
    parked.ns = std::min(parked.ns, Policy::kSafetyTimeout);
    if (rest.left_alone) provider->poll();
    const bool would_tell = rest.left_alone && provider->capabilities().wait_fd;
    if (would_tell && rest.listen_in == 0 && provider->may_sleep())
      parked.also.push_back({provider->wait_fd(), POLLIN, 0});
    else
      parked.ns = std::min(parked.ns, would_tell ? std::max(rest.listen_in, Policy::kLeftAlone) : rest.look_again);
  }
}

}  // namespace fab::core
