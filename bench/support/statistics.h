// Statistics of repeated measurements.
#pragma once

#include <vector>

namespace bench {

/// A median with the quartiles around it.
struct Spread {
  double lower = 0;
  double median = 0;
  double upper = 0;
};

/// Of a sample of at least one value; between two neighbouring values linearly.
[[nodiscard]] Spread spread_of(std::vector<double> sample);

/// Of single calls.
struct Percentiles {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};

/// Of a sample of at least one value, as spread_of.
[[nodiscard]] Percentiles percentiles_of(std::vector<double> sample);

/// Element by element: batches that ran next to each other are compared with each other. As many of each.
[[nodiscard]] std::vector<double> ratios(const std::vector<double>& numerators,
                                         const std::vector<double>& denominators);

}  // namespace bench
