// The options and fields of rows that the benchmarks of exchanges have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/quoted.h"
#include "support/batches.h"
#include "support/fab_path.h"
#include "support/memory.h"
#include "support/neighbors.h"
#include "support/rows.h"

namespace bench {

/// What fab is compared with in one job.
enum class Against { mpi, none };
[[nodiscard]] constexpr const char* name_of(Against against) { return against == Against::mpi ? "mpi" : "none"; }

/// Threads of each rank that make the same calls at once, each on a communicator of its own.
struct ThreadOptions {
  int count = 1;
  int engines = 1;  ///< of fab's, dealt out to the threads in turn
};

/// What is timed, and how often.
struct RunOptions {
  MemoryKind memory = MemoryKind::user;
  std::string sizes = "8:4M";  ///< see parse_sizes
  BatchPlan plan{};
  Against against = Against::mpi;
  bool unchecked = false;  ///< data are not looked at before the timing
  RowFiles files{};
  ThreadOptions threads{};
};

/// Of neighbour exchanges; sizes are per neighbour.
struct ExchangeOptions : RunOptions {
  PatternOptions pattern{};
};

/// -n, -x, --batches and --batch-ms, with the values in `plan` as defaults.
void add_batch_options(CLI::App& app, BatchPlan& plan);
/// --json and --csv.
void add_file_options(CLI::App& app, RowFiles& files);
/// These, --sizes, --memory and --against, with the values in `options` as defaults.
void add_run_options(CLI::App& app, RunOptions& options, const char* sizes_help);
/// --percentiles, for subcommands that have those columns.
void add_percentile_option(CLI::App& app, BatchPlan& plan);
/// This, and --no-check, for contests.
void add_contest_options(CLI::App& app, RunOptions& options);
/// --threads and --engines.
void add_thread_options(CLI::App& app, ThreadOptions& options);
/// The options of a pattern. `patterns`: those that --pattern offers.
void add_pattern_options(CLI::App& app, PatternOptions& options, const std::vector<Pattern>& patterns);
/// All options of a contest of neighbour exchanges.
void add_exchange_options(CLI::App& app, ExchangeOptions& options);

/// Checks a number. The error has the range, the help does without it.
template <class Number>
[[nodiscard]] CLI::Validator in_range(Number least, Number most) {
  return CLI::Range(least, most).description("");
}
/// An option that takes one of these values by its name, or several of them.
template <class Value>
CLI::Option* choose_by_name(CLI::Option* option, const std::vector<Value>& values) {
  std::string names;
  for (const Value value : values) names += (names.empty() ? "" : ",") + std::string(name_of(value));
  const auto number_of = [values, names](std::string& text) {
    for (const Value value : values) {
      if (text != name_of(value)) continue;
      text = std::to_string(static_cast<int>(value));
      return std::string();
    }
    return fab::in_quotes(text) + ": valid are " + names;
  };
  return option->transform(CLI::Validator(number_of, "", "name"))->type_name("{" + names + "}");
}
template <class Value>
CLI::Option* add_choice(CLI::App& app, const char* name, Value& value, const std::vector<Value>& values,
                        const char* help) {
  return choose_by_name(app.add_option(name, value, help), values)->default_str(name_of(value));
}
template <class Value>
void add_choices(CLI::App& app, const char* name, std::vector<Value>& chosen, const std::vector<Value>& values,
                 const char* help) {
  choose_by_name(app.add_option(name, chosen, help)->delimiter(','), values);
}

[[nodiscard]] std::vector<std::size_t> sizes(const RunOptions& options);

/// What the rows of one job share. `bench` is the subcommand. `fab` has no value in a program without fab.
[[nodiscard]] Row common_fields(const char* bench, const RunOptions& options, int ranks,
                                const std::optional<FabPath>& fab);
/// The job in the line above a table: "2 ranks of 4 thread(s) on 1 node(s); fab: shared memory, 1 engine(s)".
[[nodiscard]] std::string job_text(const RunOptions& options, int ranks, const std::optional<FabPath>& fab);
/// Adds the numbers of threads and engines.
void add_threads(Row& row, const ThreadOptions& threads);

}  // namespace bench
