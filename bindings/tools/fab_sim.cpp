// fab_sim: predicts the cost of collectives on networks that need not exist.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "bindings/tools/command_line.h"
#include "bindings/tools/networks.h"
#include "bindings/tools/output.h"
#include "bindings/tools/patterns.h"
#include "bindings/tools/progress_line.h"
#include "bindings/tools/quantity.h"
#include "bindings/tools/sim_row.h"
#include "fab/error.h"
#include "providers/sim/predict.h"

namespace {

using fab::Errc;
using fab::Error;
using fab::tools::Pattern;
using fab::tools::PatternCall;
using fab::tools::SimRow;
using nlohmann::ordered_json;

/// As it is written, where suffixes are possible.
struct Texts {
  std::vector<std::string> ranks{"16"};
  std::vector<std::string> bytes{"8"};
  std::string limit{"64M"};
};

struct Request {
  Texts texts;
  std::string collective;
  std::string algorithm;
  std::vector<std::uint64_t> ranks{};
  std::vector<std::uint64_t> bytes{};
  std::uint64_t limit = 0;
  PatternCall call{};  ///< its ranks and bytes aside
  std::string network;
  std::string receiver_pays;  ///< empty: as the network has it
  std::string goal;
  bool json = false;
  bool per_rank = false;
  bool list = false;
  bool list_networks = false;
  bool print_network = false;
};

/// Throws Error(invalid_argument).
void read_texts(Request& request) {
  constexpr std::uint64_t kMostRanks = 1u << 28;
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 62;
  const Texts& texts = request.texts;
  request.ranks = fab::tools::parse_quantities("--ranks", texts.ranks, 1, kMostRanks);
  request.bytes = fab::tools::parse_quantities("--bytes", texts.bytes, 0, kMostBytes);
  request.limit = fab::tools::parse_quantity("--limit", texts.limit, 1, kMostBytes);
  for (const std::uint64_t ranks : request.ranks)
    for (const std::uint64_t bytes : request.bytes)
      if (bytes > kMostBytes / ranks)
        throw Error(Errc::invalid_argument,
                    fmt::format("--bytes {}: with {} ranks at most {} is valid", bytes, ranks, kMostBytes / ranks));
}

/// What is to be predicted. Throws Error(invalid_argument, invalid_rank).
std::vector<Pattern> choose(const Request& request) {
  for (const std::uint64_t number : request.ranks) {
    const int ranks = static_cast<int>(number);
    if (request.call.root >= ranks)
      throw Error(Errc::invalid_rank, fmt::format("--root {}: valid are 0 to {}", request.call.root, ranks - 1));
    const auto& grid = request.call.grid;
    if (!grid.empty() && fab::Cartesian(grid, std::vector<bool>(grid.size(), true)).size() != ranks)
      throw Error(Errc::invalid_argument,
                  fmt::format("--grid {}: the grid is not of {} ranks", fmt::join(grid, ","), ranks));
  }
  std::vector<Pattern> chosen = fab::tools::find_patterns(request.collective, request.algorithm);
  if (!request.goal.empty() && chosen.size() * request.ranks.size() * request.bytes.size() > 1)
    throw Error(Errc::invalid_argument,
                "--goal: a file holds one schedule; give one algorithm, one number of ranks and one size");
  return chosen;
}

void write_goal(const SimRow& row, const fab::sim::Model& model, const std::string& file) {
  std::ofstream out(file);
  out << "num_ranks " << row.call.ranks << "\n";
  const double work_ns_per_byte = static_cast<double>(model.work_per_kib.count()) / 1000 / 1024;
  for (fab::Rank rank = 0; rank < row.call.ranks; ++rank)
    out << "\n" << row.pattern.build(rank, row.call).to_goal(rank, work_ns_per_byte);
  out.close();
  if (!out) throw Error(Errc::invalid_argument, fmt::format("--goal {}: {}", fab::escaped(file), std::strerror(errno)));
}

void list_patterns() {
  for (const Pattern& each : fab::tools::patterns())
    fmt::print("{:<16} {:<20} {}\n", each.collective, each.algorithm, each.description);
}

/// With its predictions, unless it would take too long.
SimRow predicted(SimRow row, const Request& request, const fab::sim::Model& model, fab::tools::ProgressLine& progress) {
  const auto schedule_of = [&](fab::Rank rank) { return row.pattern.build(rank, row.call); };
  const auto limit = static_cast<double>(request.limit);
  progress.begin(name_of(row));
  row.work = fab::sim::estimate_work(row.call.ranks, request.call.root, schedule_of, limit);
  if (row.work.operations > limit) {
    row.why = fmt::format("not simulated: some {} operations (--limit {})", fab::tools::count_text(row.work.operations),
                          request.texts.limit);
    return row;
  }
  const auto watch = [&](const fab::sim::Progress& at) { progress.show(at.what, at.done, at.all); };
  row.predictions = predict(model, row.call.ranks, schedule_of, {.watch = watch});
  return row;
}

/// Carries `use` out for each row that is asked for, as soon as it is there.
void for_each_row(const Request& request, const fab::sim::Model& model, const std::function<void(const SimRow&)>& use) {
  const std::vector<Pattern> chosen = choose(request);
  if (!request.json) fmt::print("{}", fab::tools::table_head());
  fab::tools::ProgressLine progress;
  for (const std::uint64_t ranks : request.ranks)
    for (const std::uint64_t bytes : request.bytes)
      for (const Pattern& pattern : chosen) {
        SimRow row{.pattern = pattern, .call = request.call};
        row.call.ranks = static_cast<int>(ranks);
        row.call.bytes = bytes;
        if (!pattern.allows(row.call)) {
          fmt::print(stderr, "{}: only for {}\n", name_of(row), pattern.restriction);
          continue;
        }
        row = predicted(std::move(row), request, model, progress);
        progress.clear();
        use(row);
        std::fflush(stdout);  // its failure is looked for at the end
      }
}

void print(const SimRow& row, bool per_rank) {
  fmt::print("{}", table_line(row));
  if (per_rank) fmt::print("{}", rank_lines(row));
}

fab::sim::Model network_of(const Request& request) {
  fab::sim::Model model;
  if (!request.network.empty()) model = fab::sim::read_model(fab::tools::network_file(request.network));
  if (request.call.per_node > 0) model.ranks_per_node = request.call.per_node;
  if (request.receiver_pays.empty()) return model;
  const auto payer = request.receiver_pays == "card" ? fab::sim::Payer::card : fab::sim::Payer::processor;
  for (fab::sim::LinkCost* cost : {&model.same_node, &model.same_switch, &model.far}) cost->receiver_pays = payer;
  return model;
}

void run(Request& request) {
  if (request.list_networks) return fmt::print("{}", fab::tools::list_networks());
  const fab::sim::Model model = network_of(request);
  if (request.list) return list_patterns();
  if (request.print_network) return fmt::print("{}\n", to_json(model));
  read_texts(request);
  ordered_json rows = ordered_json::array();
  for_each_row(request, model, [&](const SimRow& row) {
    if (request.json)
      rows.push_back(describe(row, request.per_rank));
    else
      print(row, request.per_rank);
    if (request.goal.empty()) return;
    if (!row.simulated()) throw Error(Errc::no_resources, fmt::format("--goal: {}: {}", name_of(row), row.why));
    write_goal(row, model, request.goal);
  });
  if (request.json)
    fmt::print("{}\n", ordered_json{{"network", ordered_json::parse(to_json(model))}, {"rows", rows}}.dump(2));
}

void add_options(CLI::App& app, Request& request) {
  app.add_option("collective", request.collective, "The collective to predict; --list prints the names");
  app.add_option("-a,--algorithm", request.algorithm, "One of its algorithms; default: all of them");
  app.add_option("-n,--ranks", request.texts.ranks, "Numbers of ranks, e.g. 16,1k,1M")->delimiter(',');
  app.add_option("-b,--bytes", request.texts.bytes, "Bytes of the vector, or of each block, e.g. 8,64k,1M")
      ->delimiter(',');
  app.add_option("--limit", request.texts.limit, "Largest number of sends, receives and copies to simulate [64M]");
  app.add_option("--root", request.call.root, "Root of the collective")->check(CLI::NonNegativeNumber);
  app.add_option("--grid", request.call.grid, "Extents of the periodic grid of neighbours; default: a ring")
      ->delimiter(',');
  app.add_option("--network", request.network,
                 "Network file (JSON), or a name that --list-networks prints; --print-network prints one");
  app.add_option("--ppn", request.call.per_node,
                 "Ranks on each node, which algorithms then know; default: as the network has it, and they do not")
      ->check(CLI::PositiveNumber);
  app.add_option("--receiver-pays", request.receiver_pays,
                 "What pays G at the receiver, instead of what the network file says: card or processor")
      ->check(CLI::IsMember({"card", "processor"}));
  app.add_flag("--json", request.json, "Print JSON");
  app.add_flag("--per-rank", request.per_rank, "Also print each rank");
  app.add_option("--goal", request.goal, "Write the schedules to this file in GOAL, the language of LogGOPSim");
  app.add_flag("--list", request.list, "Print the collectives and algorithms that can be predicted");
  app.add_flag("--list-networks", request.list_networks, "Print the networks that --network knows by name");
  app.add_flag("--print-network", request.print_network, "Print the network as a network file");
}

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  CLI::App app(
      "Predicts the cost of collectives by the LogGP model: time, messages and bytes, up to millions of ranks.",
      "fab_sim");
  Request request;
  add_options(app, request);
  return fab::tools::run_tool(app, argc, argv, [&] {
    run(request);
    return EXIT_SUCCESS;
  });
}
