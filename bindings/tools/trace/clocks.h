// Brings the times of all ranks onto one clock.
#pragma once

#include "bindings/tools/trace/timeline.h"

namespace fab::tools {

/// That of the first rank's host: ranks of a host share theirs, others are fitted by their messages (clock_fit.h), or
/// by the time of day where messages do not tell. Then no message arrives before it was sent: where an estimate was
/// wrong, what the receiver did is moved. Times begin with 0. What is uncertain stands in Timeline::notes.
void align_clocks(Timeline& timeline);

}  // namespace fab::tools
