#include "support/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bench {

Table::Table(const std::vector<std::string>& titles, std::size_t least_width) {
  for (const std::string& title : titles) widths_.push_back(std::max(title.size(), least_width));
  print(titles);
}

void Table::print(const std::vector<std::string>& cells) const {
  std::string line;
  for (std::size_t i = 0; i < widths_.size(); ++i) line += fmt::format("{:>{}}  ", cells.at(i), widths_[i]);
  fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  std::fflush(stdout);
}

std::string number(double value) {
  constexpr int kDigits = 4;
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  const int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(kDigits - before_point, 0, 3));
}

std::string ratio_text(const Spread& ratio) {
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", ratio.median, ratio.lower, ratio.upper);
}

}  // namespace bench
