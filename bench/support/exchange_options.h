// The options that the benchmarks of exchanges have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "support/batches.h"
#include "support/neighbors.h"

namespace bench {

struct ExchangeOptions {
  Pattern pattern = Pattern::ring;
  std::size_t min_bytes = 8;  ///< per neighbour
  std::size_t max_bytes = std::size_t{4} << 20;
  BatchPlan plan{};
  std::string json;
};

/// --pattern, --min, --max, --batches, --batch-ms, --calls and --json, with the values in `options` as defaults.
void add_exchange_options(CLI::App& app, ExchangeOptions& options);

/// Doubling from the smallest size to the largest.
[[nodiscard]] std::vector<std::size_t> sizes(const ExchangeOptions& options);

}  // namespace bench
