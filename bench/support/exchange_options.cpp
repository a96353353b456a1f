#include "support/exchange_options.h"

#include "support/mpi_program.h"

namespace bench {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // a count of bytes must fit into an int

}  // namespace

void add_exchange_options(CLI::App& app, ExchangeOptions& options) {
  add_choice(app, "--pattern", options.pattern, {Pattern::ring, Pattern::pair, Pattern::faces},
             "ring: two neighbours, periodic (with two ranks two blocks for one peer; the default);\n"
             "pair: one neighbour; faces: the six faces of a cube of doubles in a periodic grid of ranks");
  add_run_options(app, options);
}

void add_run_options(CLI::App& app, RunOptions& options) {
  add_choice(app, "--memory", options.memory, {MemoryKind::user, MemoryKind::fab},
             "Memory of the buffers: user: the program's own (the default); fab: from fab::alloc");
  const auto add_size = [&app](const char* name, std::size_t& bytes, const char* help) {
    app.add_option(name, bytes, help)
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::size_t{1}, kMostBytes).description("1..1GiB"))
        ->capture_default_str();
  };
  add_size("--min", options.min_bytes, "Smallest size in bytes, or with a unit, e.g. 64KiB");
  add_size("--max", options.max_bytes, "Largest size in bytes, or with a unit");
  app.add_option("--factor", options.factor, "Factor from one size to the next")
      ->check(CLI::Range(std::size_t{2}, std::size_t{1024}))
      ->capture_default_str();
  app.add_option("--batches", options.plan.batches, "Batches of each contestant, in turns; the table shows medians")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--batch-ms", options.plan.batch_ms,
                 "Length of a batch in ms, from which the number of its calls follows")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--calls", options.plan.calls, "Calls in a batch, instead of --batch-ms")->check(CLI::PositiveNumber);
  app.add_option("--json", options.json, "Also write the rows to this file")->type_name("FILE");
}

std::vector<std::size_t> sizes(const RunOptions& options) {
  std::vector<std::size_t> result;
  for (std::size_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= options.factor)
    result.push_back(bytes);
  return result;
}

nlohmann::json common_fields(const char* bench, const RunOptions& options, int ranks,
                             const std::optional<FabPath>& fab) {
  nlohmann::json row = {{"bench", bench},
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

}  // namespace bench
