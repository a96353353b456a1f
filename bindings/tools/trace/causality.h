// Sees to it that no message arrives before it was sent.
#pragma once

#include "bindings/tools/trace/timeline.h"

namespace fab::tools {

/// Where a message seems to arrive too early, its arrival moves to a nanosecond after it was sent, and what its
/// receiver did next behind it, as far as it must (the logical clocks of L. Lamport, Time, Clocks, and the Ordering of
/// Events in a Distributed System, 1978). Messages that wait for each other in a circle lose their matching. What was
/// done stands in Timeline::notes.
void hold_causality(Timeline& timeline);

}  // namespace fab::tools
