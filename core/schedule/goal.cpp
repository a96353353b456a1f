// Writes schedules in GOAL, the language of LogGOPSim.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "fab/schedule.h"

namespace fab {

namespace {

/// What one operation does. Simulators charge a message by its bytes less one, so one without any gets one.
std::string action(const OperationRecord& operation, const Schedule& schedule, double work_ns_per_byte) {
  if (operation.kind != OperationKind::send && operation.kind != OperationKind::recv)
    return fmt::format("calc {}", std::llround(work_ns_per_byte * static_cast<double>(operation.bytes)));
  const bool sends = operation.kind == OperationKind::send;
  return fmt::format("{} {}b {} {} tag {}", sends ? "send" : "recv", std::max<std::uint64_t>(operation.bytes, 1),
                     sends ? "to" : "from", schedule.peers()[operation.peer], operation.slot);
}

}  // namespace

// LogGOPSim's reader wants at least one operation of each rank. The next round requires a gate, which requires this
// one: the only operation of a round is its own gate.
std::string Schedule::to_goal(Rank self, double work_ns_per_byte) const {
  std::string text = fmt::format("rank {} {{\n", self);
  auto out = std::back_inserter(text);
  std::string gate;
  std::size_t label = 0;
  for (std::size_t r = 0; r < rounds().size(); ++r) {
    const std::size_t first = label + 1;
    for (const OperationRecord& operation : operations(rounds()[r])) {
      fmt::format_to(out, "l{}: {}\n", ++label, action(operation, *this, work_ns_per_byte));
      if (!gate.empty()) fmt::format_to(out, "l{} requires {}\n", label, gate);
    }
    if (r + 1 == rounds().size()) break;
    gate = label == first ? fmt::format("l{}", label) : fmt::format("g{}", r);
    if (label == first) continue;
    fmt::format_to(out, "{}: calc 0\n", gate);
    for (std::size_t each = first; each <= label; ++each) fmt::format_to(out, "{} requires l{}\n", gate, each);
  }
  if (label == 0) text += "l1: calc 0\n";
  return text + "}\n";
}

}  // namespace fab
