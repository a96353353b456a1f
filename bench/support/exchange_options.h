// The options and fields of rows that the benchmarks of exchanges have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/batches.h"
#include "support/fab_path.h"
#include "support/memory.h"
#include "support/neighbors.h"

namespace bench {

/// What is timed, and how often.
struct RunOptions {
  MemoryKind memory = MemoryKind::user;
  std::size_t min_bytes = 8;
  std::size_t max_bytes = std::size_t{4} << 20;
  std::size_t factor = 2;
  BatchPlan plan{};
  std::string json;
};

/// Of neighbour exchanges; sizes are per neighbour.
struct ExchangeOptions : RunOptions {
  Pattern pattern = Pattern::ring;
};

/// --memory, --min, --max, --factor, --batches, --batch-ms, --calls and --json, with the values in `options` as
/// defaults.
void add_run_options(CLI::App& app, RunOptions& options);
/// These and --pattern.
void add_exchange_options(CLI::App& app, ExchangeOptions& options);
/// How choices are named on the command line.
template <class Value>
[[nodiscard]] CLI::CheckedTransformer by_name(const std::vector<Value>& values) {
  std::map<std::string, Value> named;
  for (const Value choice : values) named.emplace(name_of(choice), choice);
  std::string names;
  for (const auto& [text, choice] : named) names += (names.empty() ? "{" : ",") + text;
  CLI::CheckedTransformer transformer(named);
  transformer.description(names + "}");
  return transformer;
}
/// An option that takes one of `values`, and one that takes some.
template <class Value>
void add_choice(CLI::App& app, const char* name, Value& value, const std::vector<Value>& values, const char* help) {
  app.add_option(name, value, help)->transform(by_name(values));
}
template <class Value>
void add_choices(CLI::App& app, const char* name, std::vector<Value>& chosen, const std::vector<Value>& values,
                 const char* help) {
  app.add_option(name, chosen, help)->delimiter(',')->transform(by_name(values));
}

/// Growing by the factor from the smallest size to the largest.
[[nodiscard]] std::vector<std::size_t> sizes(const RunOptions& options);

/// What the rows of one job share. `fab` has no value in a program without fab.
[[nodiscard]] nlohmann::json common_fields(const char* bench, const RunOptions& options, int ranks,
                                           const std::optional<FabPath>& fab);

}  // namespace bench
