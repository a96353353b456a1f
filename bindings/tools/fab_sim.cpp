// fab_sim: what collectives cost on a network that need not exist.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "bindings/tools/patterns.h"
#include "fab/error.h"
#include "providers/sim/predict.h"

namespace {

using fab::Errc;
using fab::Error;
using fab::sim::in_us;
using fab::sim::Prediction;
using fab::tools::Pattern;
using fab::tools::PatternCall;
using nlohmann::ordered_json;

struct Request {
  std::string collective;
  std::string algorithm;
  std::vector<int> ranks{16};
  std::vector<std::size_t> bytes{8};
  PatternCall call{};  ///< its ranks and bytes aside
  std::string network;
  std::string goal;
  bool json = false;
  bool per_rank = false;
  bool list = false;
  bool print_network = false;
};

/// One line of the table.
struct Row {
  Pattern pattern;
  PatternCall call;
  std::vector<Prediction> predictions;

  [[nodiscard]] double time_us() const { return in_us(longest(predictions)); }
  [[nodiscard]] double mean(std::uint64_t Prediction::*field) const {
    const auto sum = [field](std::uint64_t total, const Prediction& each) { return total + each.*field; };
    return static_cast<double>(std::accumulate(predictions.begin(), predictions.end(), std::uint64_t{0}, sum)) /
           static_cast<double>(predictions.size());
  }
  [[nodiscard]] std::uint64_t most(std::uint64_t Prediction::*field) const {
    return std::ranges::max(predictions, {}, field).*field;
  }
};

/// What is to be predicted. Throws Error(invalid_argument, invalid_rank).
std::vector<Pattern> choose(const Request& request) {
  for (const int ranks : request.ranks) {
    if (request.call.root >= ranks)
      throw Error(Errc::invalid_rank, fmt::format("--root {}; there are {} ranks", request.call.root, ranks));
    const auto& grid = request.call.grid;
    if (!grid.empty() && fab::Cartesian(grid, std::vector<bool>(grid.size(), true)).size() != ranks)
      throw Error(Errc::invalid_argument, fmt::format("--grid {}: not of {} ranks", fmt::join(grid, ","), ranks));
  }
  std::vector<Pattern> chosen = fab::tools::find_patterns(request.collective, request.algorithm);
  if (!request.goal.empty() && chosen.size() * request.ranks.size() * request.bytes.size() > 1)
    throw Error(Errc::invalid_argument, "--goal: one algorithm, one number of ranks and one size make a file");
  return chosen;
}

void write_goal(const Row& row, const fab::sim::Model& model, const std::string& file) {
  std::ofstream out(file);
  out << "num_ranks " << row.call.ranks << "\n";
  const double work_ns_per_byte = static_cast<double>(model.work_per_kib.count()) / 1000 / 1024;
  for (fab::Rank rank = 0; rank < row.call.ranks; ++rank)
    out << "\n" << row.pattern.build(rank, row.call).to_goal(rank, work_ns_per_byte);
  out.close();
  if (!out) throw Error(Errc::invalid_argument, fmt::format("--goal {}: {}", file, std::strerror(errno)));
}

ordered_json describe(const Row& row, bool per_rank) {
  ordered_json result = {{"collective", row.pattern.collective},
                         {"algorithm", row.pattern.algorithm},
                         {"ranks", row.call.ranks},
                         {"bytes", row.call.bytes},
                         {"time_us", row.time_us()},
                         {"messages_per_rank", row.mean(&Prediction::messages)},
                         {"most_messages_of_a_rank", row.most(&Prediction::messages)},
                         {"bytes_per_rank", row.mean(&Prediction::bytes)},
                         {"most_bytes_of_a_rank", row.most(&Prediction::bytes)}};
  if (!per_rank) return result;
  ordered_json ranks = ordered_json::array();
  for (const Prediction& each : row.predictions)
    ranks.push_back({{"time_us", in_us(each.end)}, {"messages", each.messages}, {"bytes", each.bytes}});
  result["per_rank"] = std::move(ranks);
  return result;
}

void print_head() {
  fmt::print("{:<16} {:<20} {:>8} {:>10} {:>12} {:>9} {:>6} {:>12} {:>12}\n", "collective", "algorithm", "ranks",
             "bytes", "time us", "messages", "most", "bytes sent", "most");
}

void print(const Row& row, bool per_rank) {
  fmt::print("{:<16} {:<20} {:>8} {:>10} {:>12.3f} {:>9.2f} {:>6} {:>12.0f} {:>12}\n", row.pattern.collective,
             row.pattern.algorithm, row.call.ranks, row.call.bytes, row.time_us(), row.mean(&Prediction::messages),
             row.most(&Prediction::messages), row.mean(&Prediction::bytes), row.most(&Prediction::bytes));
  if (!per_rank) return;
  for (std::size_t rank = 0; rank < row.predictions.size(); ++rank) {
    const Prediction& each = row.predictions[rank];
    fmt::print("{:>46} {:>10} {:>12.3f} {:>9} {:>6} {:>12}\n", "rank", rank, in_us(each.end), each.messages, "",
               each.bytes);
  }
}

void list_patterns() {
  for (const Pattern& each : fab::tools::patterns())
    fmt::print("{:<16} {:<20} {}\n", each.collective, each.algorithm, each.description);
}

/// Carries `use` out for each row that is asked for, as soon as it is there.
void for_each_row(const Request& request, const fab::sim::Model& model, const std::function<void(const Row&)>& use) {
  const std::vector<Pattern> chosen = choose(request);
  if (!request.json) print_head();
  for (const int ranks : request.ranks)
    for (const std::size_t bytes : request.bytes)
      for (const Pattern& pattern : chosen) {
        Row row{pattern, request.call, {}};
        row.call.ranks = ranks;
        row.call.bytes = bytes;
        if (!pattern.allows(row.call)) {
          fmt::print(stderr, "{} {}, {} ranks, {} bytes: only for {}\n", pattern.collective, pattern.algorithm, ranks,
                     bytes, pattern.restriction);
          continue;
        }
        row.predictions = predict(model, ranks, [&](fab::Rank rank) { return pattern.build(rank, row.call); });
        use(row);
      }
}

void run(const Request& request) {
  const fab::sim::Model model = request.network.empty() ? fab::sim::Model{} : fab::sim::read_model(request.network);
  if (request.list) return list_patterns();
  if (request.print_network) return fmt::print("{}\n", to_json(model));
  ordered_json rows = ordered_json::array();
  for_each_row(request, model, [&](const Row& row) {
    if (request.json)
      rows.push_back(describe(row, request.per_rank));
    else
      print(row, request.per_rank);
    if (!request.goal.empty()) write_goal(row, model, request.goal);
  });
  if (request.json)
    fmt::print("{}\n", ordered_json{{"network", ordered_json::parse(to_json(model))}, {"rows", rows}}.dump(2));
}

void add_options(CLI::App& app, Request& request) {
  app.add_option("collective", request.collective, "What to predict; see --list");
  app.add_option("-a,--algorithm", request.algorithm, "One of its algorithms; without, all of them");
  app.add_option("-n,--ranks", request.ranks, "Numbers of ranks")->delimiter(',')->check(CLI::Range(1, 1 << 28));
  app.add_option("-b,--bytes", request.bytes, "Sizes of the vector, or of each block")->delimiter(',');
  app.add_option("--root", request.call.root, "Its root")->check(CLI::NonNegativeNumber);
  app.add_option("--grid", request.call.grid, "Extents of the periodic grid of neighbours; without, a ring")
      ->delimiter(',');
  app.add_option("--network", request.network, "A network file (JSON); see --print-network")->check(CLI::ExistingFile);
  app.add_flag("--json", request.json, "Print JSON");
  app.add_flag("--per-rank", request.per_rank, "Print each rank, too");
  app.add_option("--goal", request.goal, "Write the schedules to this file in GOAL, LogGOPSim's language");
  app.add_flag("--list", request.list, "Print what can be predicted");
  app.add_flag("--print-network", request.print_network, "Print the network as a network file");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What collectives cost by the LogGP model: time, messages and bytes, up to millions of ranks.",
               "fab_sim");
  Request request;
  add_options(app, request);
  CLI11_PARSE(app, argc, argv);
  try {
    run(request);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    fmt::print(stderr, "fab_sim: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
