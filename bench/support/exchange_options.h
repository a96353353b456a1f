// The options and fields of rows that the benchmarks of exchanges have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/batches.h"
#include "support/fab_forms.h"
#include "support/memory.h"
#include "support/neighbors.h"

namespace bench {

struct ExchangeOptions {
  Pattern pattern = Pattern::ring;
  MemoryKind memory = MemoryKind::user;
  std::size_t min_bytes = 8;  ///< per neighbour
  std::size_t max_bytes = std::size_t{4} << 20;
  std::size_t factor = 2;
  BatchPlan plan{};
  std::string json;
};

/// --pattern, --memory, --min, --max, --factor, --batches, --batch-ms, --calls and --json, with the values in `options`
/// as defaults.
void add_exchange_options(CLI::App& app, ExchangeOptions& options);

/// Growing by the factor from the smallest size to the largest.
[[nodiscard]] std::vector<std::size_t> sizes(const ExchangeOptions& options);

/// What the rows of one job share. `fab` has no value in a program without fab.
[[nodiscard]] nlohmann::json common_fields(const char* bench, const ExchangeOptions& options, int ranks,
                                           const std::optional<FabPath>& fab);

}  // namespace bench
