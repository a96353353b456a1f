#include "support/explained_way.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace bench {
namespace {

using Ways = std::set<std::string>;

/// What statistics call a predicted way; several names: any of them. Blocks of this process are no messages.
Ways counted_as(const std::string& predicted) {
  if (predicted == "copy") return {};
  if (predicted == "one-sided") return {"written"};
  if (predicted == "mapped or kernel") return {"mapped", "kernel"};
  return {predicted};
}

std::string joined(const Ways& ways) { return fmt::format("{}", fmt::join(ways, " + ")); }

}  // namespace

bool differs(const ExplainedWay& way) {
  if (!way.observed) return false;
  const auto is_observed = [&](const std::string& one) { return way.observed->contains(one); };
  Ways expected;
  for (const std::string& predicted : way.predicted) {
    const Ways any = counted_as(predicted);
    if (!any.empty() && std::ranges::none_of(any, is_observed)) return true;
    expected.insert(any.begin(), any.end());
  }
  return !std::ranges::includes(expected, *way.observed);
}

std::string ways_text(const std::set<std::string>& counted) { return counted.empty() ? "none" : joined(counted); }

std::string ways_title(const std::string& library) { return fmt::format("{:>19}", library + "'s way"); }

std::vector<std::string> way_titles() { return {ways_title("fab"), "           observed", "       "}; }

std::vector<std::string> way_cells(const ExplainedWay& way) {
  return {joined(way.predicted), way.observed ? joined(*way.observed) : "-", differs(way) ? "differs" : ""};
}

void add_way(Row& row, const ExplainedWay& way) {
  row["way"] = joined(way.predicted);
  if (!way.observed) return;
  row["way_observed"] = joined(*way.observed);
  row["way_differs"] = differs(way);
}

}  // namespace bench
