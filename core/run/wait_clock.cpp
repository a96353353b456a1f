#include "core/run/wait_clock.h"

#include "core/peers/peers.h"

namespace fab::core {

void WaitClock::end(Pending& pending, Time begun) {
  WaitClock clock(pending, begun);
  clock.last_ = pending.last_peer();
  clock.end(pending);
}

void WaitClock::end(Pending& pending) {
  look(pending);
  const auto ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now_() - begun_).count());
  Peer* const only = pending.waited(ns);
  Peer* const last = last_ != nullptr ? last_ : only;
  if (last == nullptr) return;
  ++last->came_last;
  last->waited_ns += ns;
}

}  // namespace fab::core
