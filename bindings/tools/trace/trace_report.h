// Reports from a timeline the overlap that was reached, the waits, and the ranks that these were for.
#pragma once

#include <string>
#include <vector>

#include "bindings/tools/trace/late_ranks.h"
#include "bindings/tools/trace/timeline.h"

namespace fab::tools {

/// One operation on one rank. Times are sums over its starts.
struct OperationTime {
  Rank rank = 0;
  core::TracedOperation operation{};
  std::size_t starts = 0;  ///< that have ended
  std::size_t failed = 0;
  Time took = 0;         ///< from start to end
  Time waited = 0;       ///< of that, while a caller of this rank waited, for anything
  Time longest = 0;      ///< from start to end
  Time late_starts = 0;  ///< waits for ranks that started late

  /// The part of the time between start and end in which the rank was not waiting: 0 to 1.
  [[nodiscard]] double overlap() const noexcept {
    return took == 0 ? 0 : 1 - static_cast<double>(waited) / static_cast<double>(took);
  }
};

/// One rank.
struct RankTime {
  Rank rank = 0;
  std::string host{};
  Time took = 0;    ///< from the opening of its context to the writing of its file
  Time waited = 0;  ///< some caller waited
  std::size_t waits = 0;
  Time kept_waiting = 0;  ///< waits of other ranks for this one as it started, sent or received late
  std::size_t kept_waits = 0;
  Time thread_awake = 0;   ///< the progress thread, since its first sleep
  std::uint64_t lost = 0;  ///< records
};

struct TraceReport {
  std::vector<RankTime> ranks{};
  std::vector<OperationTime> operations{};  ///< by operation, then by rank
  std::vector<LateWait> waits{};            ///< the longest first
};

[[nodiscard]] TraceReport make_report(const Timeline& timeline);

/// "neighbor_xchg", "allreduce (ring)"; with " on 1.0" where it is not on the world.
[[nodiscard]] std::string name_of(const core::TracedOperation& operation);

/// For people, with so many waits.
[[nodiscard]] std::string to_text(const TraceReport& report, const Timeline& timeline, std::size_t most_waits);
/// For machines.
[[nodiscard]] std::string to_json(const TraceReport& report, const Timeline& timeline, std::size_t most_waits);

}  // namespace fab::tools
