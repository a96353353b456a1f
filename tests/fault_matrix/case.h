// One case of the fault matrix: four ranks in a ring repeat one operation, and a fault hits the last of
// them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fab/topology.h"
#include "support/time_limit.h"

namespace fab::test {

enum class Doing { exchange, nonblocking, persistent, one_sided, parts, allreduce, bcast, messages, discover };
enum class Way {
  node,      ///< shared memory
  net,       ///< libfabric's TCP, also within the node
  rxm,       ///< its older one
  two_hosts  ///< the last rank in a network namespace of its own, the others with shared memory in another
};
enum class Fault {
  killed,
  stopped,  ///< for a while
  stopped_for_ever,
  machine_gone,  ///< its link is down
  never_started,
  exits  ///< without closing
};

struct Case {
  Doing doing = Doing::exchange;
  std::size_t bytes = 8;
  Way way = Way::node;
  Fault fault = Fault::killed;

  /// "exchange.8.net.killed"
  [[nodiscard]] std::string name() const;
};

/// How long things take, and may.
struct Times {
  double stop_s = 20;              ///< Fault::stopped
  double peer_timeout_s = 30;      ///< FAB_PEER_TIMEOUT
  double wait_timeout_s = 5;       ///< FAB_WAIT_TIMEOUT, where nothing else ends the wait
  double exit_timeout_s = 1;       ///< FAB_EXIT_TIMEOUT
  double slack = time_limit_s(4);  ///< times what fab promises, for a machine that has other things to do
};

inline constexpr int kRanks = 4;
inline constexpr Rank kVictim = kRanks - 1;

/// All cases that make sense.
[[nodiscard]] std::vector<Case> all_cases();

struct Verdict {
  bool good = false;
  bool skipped = false;
  double slowest_s = 0;  ///< from the fault to a survivor's error
  std::string text{};    ///< what is wrong, or was done
};

/// In this process, which must not have threads.
[[nodiscard]] Verdict judge(const Case& which, const Times& times);

}  // namespace fab::test
