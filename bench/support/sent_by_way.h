// Which ways messages took between two looks at the statistics of a rank.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "fab/statistics.h"

namespace bench {

/// Messages, by the way that they took.
using SentByWay = std::map<std::string, std::uint64_t>;

inline void add(SentByWay& sums, std::span<const fab::WayStatistics> ways) {
  for (const fab::WayStatistics& way : ways) sums[way.way] += way.sent.messages;
}

/// Those to all peers, fab's own included.
[[nodiscard]] inline SentByWay sent_to_peers(const fab::Statistics& statistics) {
  SentByWay sums;
  for (const fab::PeerStatistics& peer : statistics.peers) add(sums, peer.ways);
  return sums;
}
/// Those of an operation.
[[nodiscard]] inline SentByWay sent_by(std::string_view operation, const fab::StatisticsByWay& statistics) {
  SentByWay sums;
  add(sums, statistics.ways_of(operation));
  return sums;
}

/// The ways that messages took since `before`.
[[nodiscard]] inline std::set<std::string> ways_since(const SentByWay& before, const SentByWay& now) {
  std::set<std::string> taken;
  for (const auto& [way, messages] : now) {
    const auto found = before.find(way);
    if (messages > (found == before.end() ? 0 : found->second)) taken.insert(way);
  }
  return taken;
}
/// The ways that messages took while `calls` ran. `sent` returns those until now.
template <class Sent, class Calls>
[[nodiscard]] std::set<std::string> ways_during(const Sent& sent, const Calls& calls) {
  const SentByWay before = sent();
  calls();
  return ways_since(before, sent());
}

}  // namespace bench
