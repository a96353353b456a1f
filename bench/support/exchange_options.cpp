#include "support/exchange_options.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/config.h"
#include "support/mpi_program.h"
#include "support/sizes.h"

namespace bench {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kLargestCount = 1'000'000'000;  // of calls and batches

std::string describe(Pattern pattern) {
  switch (pattern) {
    case Pattern::ring:
      return "ring: two neighbours, periodic";
    case Pattern::pair:
      return "pair: one neighbour";
    case Pattern::grid:
      return "grid: the neighbours in a grid";
    case Pattern::random:
      return "random: --degree random edges of each rank";
    case Pattern::faces:
      return "faces: of a cube of doubles, in a grid";
  }
  return {};
}

}  // namespace

void add_batch_options(CLI::App& app, BatchPlan& plan) {
  app.add_option("-n,--iterations", plan.calls, "Calls in a batch, instead of --batch-ms")
      ->check(in_range(1, kLargestCount));
  app.add_option("-x,--warmup", plan.warmup, "More calls of each before it is timed")
      ->check(in_range(0, kLargestCount))
      ->capture_default_str();
  app.add_option("--batches", plan.batches, "Batches of each contestant, in turns; the table shows medians")
      ->check(in_range(1, kLargestCount))
      ->capture_default_str();
  app.add_option("--batch-ms", plan.batch_ms, "Length of a batch in ms, from which the number of its calls follows")
      ->check(in_range(0.001, 1e6))
      ->capture_default_str();
}

void add_file_options(CLI::App& app, RowFiles& files) {
  app.add_option("--json", files.json, "Also write the rows to this file, as JSON")->type_name("FILE");
  app.add_option("--csv", files.csv, "Also write the rows to this file, as CSV")->type_name("FILE");
}

void add_run_options(CLI::App& app, RunOptions& options, const char* sizes_help) {
  add_sizes(app, options.sizes, sizes_help);
  add_batch_options(app, options.plan);
  add_file_options(app, options.files);
  add_choice(app, "--memory", options.memory, {MemoryKind::user, MemoryKind::fab},
             "Memory of the buffers: user: the program's own; fab: from fab::alloc");
  add_choice(app, "--against", options.against, {Against::mpi, Against::none},
             "What fab is compared with: mpi: the MPI library's calls in the same job");
}

void add_percentile_option(CLI::App& app, BatchPlan& plan) {
  app.add_flag("--percentiles", plan.percentiles,
               "Time each call by itself, too: columns for the 50th, 90th and 99th percentile");
}

void add_contest_options(CLI::App& app, RunOptions& options) {
  add_percentile_option(app, options.plan);
  app.add_flag("--no-check", options.unchecked, "Do not look at the data of each call before it is timed");
}

void add_thread_options(CLI::App& app, ThreadOptions& options) {
  app.add_option("-t,--threads", options.count, "Threads of each rank, with a communicator each")
      ->check(in_range(1, kMostThreads))
      ->capture_default_str();
  app.add_option("--engines", options.engines, "Engines of fab's (fab::ContextOptions), dealt out to the threads")
      ->check(in_range(1, fab::kMostEngines))
      ->capture_default_str();
}

void add_pattern_options(CLI::App& app, PatternOptions& options, const std::vector<Pattern>& patterns) {
  std::string help;
  for (const Pattern pattern : patterns) help += (help.empty() ? "" : "; ") + describe(pattern);
  if (patterns.size() > 1) add_choice(app, "--pattern", options.pattern, patterns, help.c_str());
  app.add_option("--grid", options.grid, "grid, faces: extents of the grid, e.g. 4x2; default: chosen")
      ->delimiter('x')
      ->check(in_range(1, 1 << 24))
      ->type_name("EXTENTS");
  app.add_flag("--open", options.open, "grid, faces: the grid ends at its borders; default: periodic");
  if (std::ranges::find(patterns, Pattern::random) == patterns.end()) return;
  app.add_option("--degree", options.degree, "random: edges of each rank")
      ->check(in_range(1, 1024))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "random: of the edges")->capture_default_str();
}

void add_exchange_options(CLI::App& app, ExchangeOptions& options) {
  add_pattern_options(app, options.pattern,
                      {Pattern::ring, Pattern::pair, Pattern::grid, Pattern::random, Pattern::faces});
  add_run_options(app, options, "Bytes per neighbour: a range FIRST:LAST[:FACTOR] or a list, e.g. 8:1M:4 or 8,64k");
  add_contest_options(app, options);
}

std::vector<std::size_t> sizes(const RunOptions& options) { return parse_sizes(options.sizes); }

Row common_fields(const char* bench, const RunOptions& options, int ranks, const std::optional<FabPath>& fab) {
  Row row = {{"bench", bench},
             {"memory", name_of(options.memory)},
             {"ranks", ranks},
             {"mpi", mpi_library()},
             {"batches", options.plan.batches}};
  if (!fab) return row;
  row["nodes"] = fab->nodes;
  row["provider"] = fab->provider;
  row["domain"] = fab->domain;
  return row;
}

std::string job_text(const RunOptions& options, int ranks, const std::optional<FabPath>& fab) {
  const std::string job = fmt::format("{} ranks of {} thread(s)", ranks, options.threads.count);
  if (!fab) return job;
  return fmt::format("{} on {} node(s); fab: {}, {} engine(s)", job, fab->nodes, fab->name, options.threads.engines);
}

void add_threads(Row& row, const ThreadOptions& threads) {
  row["threads"] = threads.count;
  row["engines"] = threads.engines;
}

}  // namespace bench
