#include "support/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

namespace bench {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

Spread spread_of(std::vector<double> sample) {
  std::ranges::sort(sample);
  return {.lower = quantile(sample, 0.25), .median = quantile(sample, 0.5), .upper = quantile(sample, 0.75)};
}

Percentiles percentiles_of(std::vector<double> sample) {
  std::ranges::sort(sample);
  return {.p50 = quantile(sample, 0.5), .p90 = quantile(sample, 0.9), .p99 = quantile(sample, 0.99)};
}

std::vector<double> ratios(const std::vector<double>& numerators, const std::vector<double>& denominators) {
  std::vector<double> result;
  std::ranges::transform(numerators, denominators, std::back_inserter(result), std::divides<>());
  return result;
}

}  // namespace bench
