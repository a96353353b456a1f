// The way of an exchange's messages, for --explain: as fab's rules give it, and as fab's statistics have counted it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/rows.h"

namespace bench {

struct ExplainedWay {
  std::set<std::string> predicted{};                ///< FabTransport::way, of all neighbours
  std::optional<std::set<std::string>> observed{};  ///< fab::WayStatistics::way; none: no call was looked at
};

/// A message took a way that was not predicted, or none took one that was.
[[nodiscard]] bool differs(const ExplainedWay& way);

/// Counted ways in one cell: "cell + ring", or "none" if no message took one.
[[nodiscard]] std::string ways_text(const std::set<std::string>& counted);
/// The title of their column.
[[nodiscard]] std::string ways_title(const std::string& library);

/// The columns of a table: predicted, observed, and a mark where they differ.
[[nodiscard]] std::vector<std::string> way_titles();
[[nodiscard]] std::vector<std::string> way_cells(const ExplainedWay& way);

/// Adds "way", and "way_observed" and "way_differs" if a call was looked at.
void add_way(Row& row, const ExplainedWay& way);

}  // namespace bench
