// Sums of statistics, and their look-up.
#include "fab/statistics.h"

namespace fab {

void OperationStatistics::add(const OperationStatistics& more) noexcept {
  calls += more.calls;
  sent.add(more.sent);
  packed.add(more.packed);
  written.add(more.written);
  received.add(more.received);
  unpacked.add(more.unpacked);
  plans += more.plans;
  plans_ns += more.plans_ns;
  longest_plan_ns = std::max(longest_plan_ns, more.longest_plan_ns);
  waited.add(more.waited);
}

std::uint64_t Statistics::counter(std::string_view name) const noexcept {
  const auto found = std::ranges::find(counters, name, &CounterStatistics::name);
  return found == counters.end() ? 0 : found->value;
}

OperationStatistics Statistics::totals() const {
  OperationStatistics sums;
  for (const OperationStatistics& operation : operations) sums.add(operation);
  return sums;
}

}  // namespace fab
