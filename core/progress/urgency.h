// The urgency of an operation in flight: whether it needs the progress thread while its caller computes.
#pragma once

#include <cstdint>

namespace fab::core {

/// What waits for the thread, of something in flight, while its caller computes.
enum class Urgency : std::uint8_t {
  none,   ///< nothing: a caller that takes what has come when it waits loses no time
  sends,  ///< ends of long sends of peers, which do not wait for them as long as they compute, too
  peers,  ///< other ranks, perhaps, for what it does once something has come
  polls   ///< itself: what is on its way comes no further without polls
};

}  // namespace fab::core
