// Tells for each wait which rank it was for, and why that one was late.
#pragma once

#include <vector>

#include "bindings/tools/trace/timeline.h"

namespace fab::tools {

enum class Reason {
  started_late,   ///< the other rank began its part after the wait had begun
  posted_late,    ///< it had begun, but its message left late, and no message that it waited for tells why
  received_late,  ///< it began to receive this rank's message after the wait had begun
  on_the_way,     ///< the message had left before the wait began
  unknown         ///< no message of the exchange came in the wait, or its other end is not known
};

/// "started late"
[[nodiscard]] const char* to_string(Reason reason) noexcept;

struct LateWait {
  Rank rank = 0;         ///< that waited
  std::size_t wait = 0;  ///< RankTimeline::waits
  Time took = 0;
  Reason reason = Reason::unknown;
  Rank late = kNoRank;     ///< the rank that it was for in the end
  Rank through = kNoRank;  ///< whose message came last, if that is another one, which waited itself
  Time late_by = 0;        ///< started_late, received_late: after the begin of the wait
  std::size_t exchange = kNone;
};

/// Of all waits, the longest first.
[[nodiscard]] std::vector<LateWait> find_late_ranks(const Timeline& timeline);

}  // namespace fab::tools
