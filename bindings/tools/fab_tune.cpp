// fab_tune: writes rules that choose the algorithms of collectives.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "bindings/tools/command_line.h"
#include "bindings/tools/networks.h"
#include "bindings/tools/output.h"
#include "bindings/tools/quantity.h"
#include "bindings/tools/tune_lengths.h"
#include "bindings/tools/tune_measure.h"
#include "bindings/tools/tune_rules.h"
#include "bindings/tools/tune_simulate.h"
#include "collectives/choice/built_in_rules.h"
#include "core/base/config.h"
#include "core/base/processors.h"
#include "core/base/quoted.h"
#include "fab/error.h"
#include "fab/fab.h"

namespace {

using fab::Errc;
using fab::Error;
using fab::collectives::ProcessorLengths;
using fab::collectives::Rules;
using fab::tools::parse_quantities;
using fab::tools::parse_quantity;

struct Request {
  std::string how;
  std::vector<std::string> collectives;
  std::vector<std::string> networks{"infiniband-edr"};
  std::vector<std::string> per_node{"4", "16", "64"};
  std::vector<std::string> ranks;
  std::vector<std::string> bytes{"8", "64", "512", "4k", "32k", "256k", "2M"};
  std::string limit{"2M"};
  std::string memory{"256M"};
  double seconds = 60;
  double within = 1.03;
  std::string out;
  bool bounded = false;
  bool source = false;
};

template <class Number>
std::vector<Number> in_order(std::vector<Number> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

template <class Number>
std::vector<Number> ascending(const char* option, const std::vector<std::string>& texts, std::uint64_t least,
                              std::uint64_t most) {
  std::vector<Number> numbers;
  for (const std::uint64_t each : parse_quantities(option, texts, least, most))
    numbers.push_back(static_cast<Number>(each));
  return in_order(std::move(numbers));
}

/// Without -n: 2, 4, 8... nodes of each kind, up to 16384 ranks.
std::vector<int> ranks_of(const Request& request, const std::vector<int>& per_node) {
  constexpr int kMostRanks = 1 << 14;
  if (!request.ranks.empty()) return ascending<int>("--ranks", request.ranks, 2, 1u << 28);
  std::vector<int> ranks;
  for (const int on_node : per_node)
    for (int count = 2 * on_node; count <= kMostRanks; count *= 2) ranks.push_back(count);
  return in_order(std::move(ranks));
}

std::vector<fab::collectives::Rule> simulated(const Request& request) {
  fab::tools::SimulateRequest wanted{.collectives = fab::tools::tuned_collectives(request.collectives),
                                     .within = request.within};
  for (const std::string& network : request.networks)
    wanted.networks.push_back(fab::sim::read_model(fab::tools::network_file(network)));
  wanted.per_node = ascending<int>("--ppn", request.per_node, 1, 1u << 20);
  wanted.ranks = ranks_of(request, wanted.per_node);
  wanted.bytes = ascending<std::size_t>("--bytes", request.bytes, 1, std::uint64_t{1} << 40);
  wanted.bounded = request.bounded;
  wanted.limit = parse_quantity("--limit", request.limit, 1, std::uint64_t{1} << 40);
  fab::tools::ProgressLine progress;
  return simulate_rules(wanted, progress);
}

/// 2, 4, 8... ranks, and all.
std::vector<int> measured_ranks(const Request& request, int size) {
  if (size < 2)
    throw Error(Errc::invalid_argument, "measure: a job of one rank has nothing to measure; e.g. mpirun -n 4 is valid");
  if (!request.ranks.empty()) return ascending<int>("--ranks", request.ranks, 2, static_cast<std::uint64_t>(size));
  std::vector<int> ranks{size};
  for (int count = 2; count < size; count *= 2) ranks.push_back(count);
  return in_order(std::move(ranks));
}

std::vector<fab::collectives::Rule> measured(const Request& request, const fab::Context& context) {
  fab::tools::MeasureRequest wanted{.collectives = fab::tools::tuned_collectives(request.collectives),
                                    .within = request.within};
  wanted.ranks = measured_ranks(request, context.size());
  wanted.bytes = ascending<std::size_t>("--bytes", request.bytes, 1, std::uint64_t{1} << 40);
  wanted.seconds = request.seconds;
  wanted.memory = parse_quantity("--memory", request.memory, 1024, std::uint64_t{1} << 40);
  return measure_rules(context.world(), wanted);
}

/// Those of this processor, and those of others that the file of FAB_RULES has.
std::vector<ProcessorLengths> measured_lengths(const Request& request, const fab::Context& context) {
  const auto lengths = fab::tools::measure_lengths(context.world(), request.seconds / 10, request.within);
  const fab::Config config = fab::read_config(fab::process_environment);
  std::vector<ProcessorLengths> all;
  if (!config.rules.empty()) all = fab::collectives::read_rules(config.rules).lengths;
  if (!lengths) return all;
  const std::string processor = fab::core::processor_kind();
  std::erase_if(all, [&](const ProcessorLengths& each) { return each.processor == processor; });
  all.push_back({processor, *lengths});
  return all;
}

/// A file replaces all built-in rules, so that it has them behind its own, for calls that those do not cover.
void write(const Request& request, Rules rules, const std::string& command) {
  const std::vector<fab::collectives::Rule>& others = fab::collectives::built_in_rules().rows;
  if (!request.source) rules.rows.insert(rules.rows.end(), others.begin(), others.end());
  const std::string text =
      request.source ? fab::tools::to_source(rules.rows, command) : fab::collectives::to_json(rules, command);
  if (request.out.empty()) {
    fmt::print("{}", text);
    return;
  }
  std::ofstream file(request.out);
  file << text;
  file.close();
  if (!file)
    throw Error(Errc::invalid_argument, fmt::format("--out {}: {}", fab::in_quotes(request.out), std::strerror(errno)));
}

void run(const Request& request, const std::string& command) {
  if (request.how == "simulate") return write(request, {.name = "", .rows = simulated(request)}, command);
  const fab::Context context = fab::Context::open();
  const std::vector<fab::collectives::Rule> rows = measured(request, context);
  const std::vector<ProcessorLengths> lengths = measured_lengths(request, context);
  if (context.rank() == 0) write(request, {.name = "", .rows = rows, .lengths = lengths}, command);
}

void add_options(CLI::App& app, Request& request) {
  app.add_option("how", request.how, "simulate: by the model of a network; measure: on the ranks of this job (mpirun)")
      ->required()
      ->check(CLI::IsMember({"simulate", "measure"}));
  app.add_option("-c,--collective", request.collectives,
                 "Collectives, e.g. bcast,allreduce; default: all whose calls have one size")
      ->delimiter(',');
  app.add_option("--network", request.networks,
                 "simulate: network files or names (fab_sim --list-networks); of several the rules are a compromise")
      ->delimiter(',');
  app.add_option("--ppn", request.per_node, "simulate: ranks on each node, e.g. 4,16,64")->delimiter(',');
  app.add_option("-n,--ranks", request.ranks,
                 "Numbers of ranks; default: 2, 4, 8... nodes, up to 16k ranks; measure: 2, 4, 8... ranks, and all")
      ->delimiter(',');
  app.add_option("-b,--bytes", request.bytes, "Bytes of the vector, or of each block, e.g. 8,64k,1M")->delimiter(',');
  app.add_option("--limit", request.limit, "simulate: largest number of sends, receives and copies of a call [2M]");
  app.add_option("--seconds", request.seconds, "measure: seconds that all of it takes, about [60]")
      ->check(CLI::Range(0.1, 1e6));
  app.add_option("--memory", request.memory, "measure: bytes of each of a rank's two buffers [256M]");
  app.add_option("--within", request.within, "A size keeps the algorithm of the smaller one up to this ratio [1.03]")
      ->check(CLI::Range(1.0, 10.0));
  app.add_flag("--bounded", request.bounded, "simulate: write no rules for sizes above the largest");
  app.add_option("-o,--out", request.out, "Write to this file instead of standard output");
  app.add_flag("--source", request.source, "Write a table in C++ instead of a rules file");
}

std::string joined(int argc, char** argv) {
  std::string command = "fab_tune";
  for (int i = 1; i < argc; ++i) command += std::string(" ") + argv[i];
  return fab::escaped(command);
}

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  CLI::App app("Writes rules that choose the algorithms of collectives, for FAB_RULES.", "fab_tune");
  Request request;
  add_options(app, request);
  return fab::tools::run_tool(app, argc, argv, [&] {
    run(request, joined(argc, argv));
    return EXIT_SUCCESS;
  });
}
