// Sums of statistics, and their look-up.
#include "fab/statistics.h"

#include "core/statistics/figures.h"

namespace fab {

void OperationStatistics::add(const OperationStatistics& more) noexcept {
  for (const core::FigureOf<OperationStatistics>& figure : core::operation_figures()) {
    if (figure.at == nullptr) continue;
    std::uint64_t& mine = figure.at(*this);
    mine = figure.largest ? std::max(mine, figure.value(more)) : mine + figure.value(more);
  }
  for (std::size_t i = 0; i < WaitTimes::kClasses; ++i) waited.by_length[i] += more.waited.by_length[i];
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

std::vector<WayStatistics> StatisticsByWay::ways_of(std::string_view operation) const {
  std::vector<WayStatistics> sums;
  for (std::size_t i = 0; i < std::min(operations.size(), operation_ways.size()); ++i) {
    if (operations[i].operation != operation) continue;
    for (const WayStatistics& way : operation_ways[i]) {
      const auto known = std::ranges::find(sums, way.way, &WayStatistics::way);
      if (known == sums.end())
        sums.push_back(way);
      else
        known->sent.add(way.sent);
    }
  }
  return sums;
}

}  // namespace fab
