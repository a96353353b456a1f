// Tables of results. Only rank 0 should make them.
#pragma once

#include <string>
#include <vector>

#include "support/statistics.h"

namespace bench {

/// Right-aligned columns under a line of titles; each row is printed as soon as it is there.
class Table {
 public:
  /// Prints the titles. A column is at least `least_width` wide.
  explicit Table(const std::vector<std::string>& titles, std::size_t least_width = 9);

  /// As many cells as titles.
  void print(const std::vector<std::string>& cells) const;

 private:
  std::vector<std::size_t> widths_;
};

/// With four significant digits, but never in powers of ten.
[[nodiscard]] std::string number(double value);
/// A ratio with its quartiles: "1.72 (1.70-1.75)".
[[nodiscard]] std::string ratio_text(const Spread& ratio);

}  // namespace bench
