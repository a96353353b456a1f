#include "support/exchange_options.h"

#include <map>

namespace bench {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // a count of bytes must fit into an int

}  // namespace

void add_exchange_options(CLI::App& app, ExchangeOptions& options) {
  const std::map<std::string, Pattern> patterns{{"ring", Pattern::ring}, {"pair", Pattern::pair}};
  app.add_option("--pattern", options.pattern,
                 "ring: two neighbours, periodic (with two ranks two blocks for one peer; the default);\n"
                 "pair: one neighbour")
      ->transform(CLI::CheckedTransformer(patterns).description("{ring,pair}"));
  const auto add_size = [&app](const char* name, std::size_t& bytes, const char* help) {
    app.add_option(name, bytes, help)
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::size_t{1}, kMostBytes).description("1..1GiB"))
        ->capture_default_str();
  };
  add_size("--min", options.min_bytes, "Smallest size in bytes per neighbour; 64KiB and the like are understood");
  add_size("--max", options.max_bytes, "Largest size; sizes double from --min on");
  app.add_option("--batches", options.plan.batches, "Batches of each contestant, in turns; the medians are shown")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--batch-ms", options.plan.batch_ms, "Length of a batch in ms: makes the number of calls in it")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--calls", options.plan.calls, "Calls in a batch, instead of --batch-ms")->check(CLI::PositiveNumber);
  app.add_option("--json", options.json, "Writes the rows to this file too")->type_name("FILE");
}

std::vector<std::size_t> sizes(const ExchangeOptions& options) {
  std::vector<std::size_t> result;
  for (std::size_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= 2) result.push_back(bytes);
  return result;
}

}  // namespace bench
