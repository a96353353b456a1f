// fab_info: shows this build of fab, the provider that it would use here and why, every variable with its value, the
// algorithms of the collectives, and the statistics of a context.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "bindings/native/base/access.h"
#include "bindings/tools/choose_report.h"
#include "bindings/tools/command_line.h"
#include "bindings/tools/lengths_report.h"
#include "bindings/tools/map_report.h"
#include "bindings/tools/neighbor_choice.h"
#include "bindings/tools/output.h"
#include "collectives/choice/select.h"
#include "collectives/discover/discover.h"
#include "core/base/config.h"
#include "core/bootstrap/store.h"
#include "core/communicator/communicator.h"
#include "core/context.h"
#include "core/peers/transports.h"
#include "core/statistics/figures.h"
#include "core/statistics/page.h"
#include "core/statistics/statistics_json.h"
#include "fab/error.h"
#include "fab/fab.h"
#include "providers/ofi/features.h"
#include "providers/ofi/survey.h"

namespace {

using nlohmann::ordered_json;

ordered_json describe_build() {
  return {{"version", FAB_VERSION},
          {"build", FAB_BUILD_TYPE},
          {"compiler", FAB_COMPILER},
          {"libfabric", fab::ofi::library_version()}};
}

ordered_json describe_job(const fab::JobInfo& job) {
  return {{"origin", job.origin},
          {"rank", job.rank},
          {"size", job.size},
          {"ranks_on_node", job.local_size},
          {"nodes", job.node_count}};
}

ordered_json describe_transports(const fab::Config& config, const fab::JobInfo& job) {
  const auto [node, network] = fab::choose_transports(config, job);
  const char* why = !config.local            ? "FAB_LOCAL=off"
                    : job.node_ranks.empty() ? "the launcher does not tell which ranks are on this node"
                    : !network               ? "all ranks are on this node"
                                             : "for the ranks of this node";
  return {{"shared_memory", node},
          {"shared_memory_reason", why},
          {"network", network},
          {"network_reason", network ? "for all other ranks" : "not opened: there is no other rank to reach"}};
}

ordered_json describe_features(const fab::ofi::Candidate& candidate) {
  ordered_json rows = ordered_json::array();
  for (const fab::ofi::Feature& feature : fab::ofi::features_of(candidate))
    rows.push_back({{"name", feature.name}, {"used", feature.used}, {"detail", feature.detail}});
  return rows;
}

ordered_json describe_providers(const fab::Config& config, const fab::JobInfo& job) {
  const fab::ofi::Survey survey(config, job);
  ordered_json rows = ordered_json::array();
  for (const fab::ofi::Candidate& candidate : survey.candidates())
    rows.push_back({{"provider", candidate.provider},
                    {"domain", candidate.domain},
                    {"interface", candidate.interface},
                    {"address", candidate.address},
                    {"usable", candidate.usable},
                    {"chosen", candidate.usable && &candidate == &survey.candidates().front()},
                    {"reason", candidate.reason},
                    {"persistent", candidate.writes ? "writes" : "messages"},
                    {"persistent_reason", candidate.writes_reason},
                    {"features", describe_features(candidate)}});
  return rows;
}

ordered_json describe_variables(const fab::Config& config) {
  ordered_json rows = ordered_json::array();
  for (const fab::ConfigRow& row : fab::config_rows())
    rows.push_back({{"name", row.name},
                    {"value", row.print(config)},
                    {"default", row.default_value},
                    {"set", std::getenv(row.name) != nullptr},
                    {"help", row.help}});
  return rows;
}

void print_providers(const ordered_json& rows) {
  fmt::print("\nlibfabric providers, best first\n");
  for (const ordered_json& row : rows)
    fmt::print("  {} {:<14} {:<10} {:<16} {}\n",
               row["chosen"]   ? "*"
               : row["usable"] ? "+"
                               : "-",
               row["provider"].get<std::string>(), row["domain"].get<std::string>(), row["address"].get<std::string>(),
               row["reason"].get<std::string>());
  fmt::print("  * chosen   + usable   - not usable here\n");
  for (const ordered_json& row : rows)
    if (row["chosen"])
      fmt::print("\npersistent exchanges between nodes are {} ({})\n", row["persistent"].get<std::string>(),
                 row["persistent_reason"].get<std::string>());
}

/// Of each provider once: the devices of one have the same.
void print_features(const ordered_json& rows) {
  std::set<std::string> printed;
  for (const ordered_json& row : rows) {
    const auto provider = row["provider"].get<std::string>();
    if (!printed.insert(provider).second) continue;
    fmt::print("\nover {} fab uses (+) and does without (-)\n", provider);
    for (const ordered_json& feature : row["features"])
      fmt::print("  {} {:<20} {}\n", feature["used"].get<bool>() ? "+" : "-", feature["name"].get<std::string>(),
                 feature["detail"].get<std::string>());
  }
}

void print_variables(const ordered_json& rows) {
  fmt::print("\nvariables\n");
  for (const ordered_json& row : rows) {
    const auto text = [&row](const char* field) { return row[field].get<std::string>(); };
    fmt::print(
        "  {}={}{}\n      {}\n", text("name"), text("value"),
        row["set"] ? fmt::format("   (set; default {})", text("default").empty() ? "empty" : text("default")) : "",
        text("help"));
  }
}

void print(const ordered_json& info) {
  const auto text = [](const ordered_json& field) {
    return field.is_string() ? field.get<std::string>() : field.dump();
  };
  for (const auto& [name, value] : info["fab"].items()) fmt::print("{:<14} {}\n", name, text(value));
  for (const auto& [name, value] : info["job"].items()) fmt::print("{:<14} {}\n", name, text(value));
  const ordered_json& ways = info["transports"];
  for (const char* way : {"shared_memory", "network"})
    fmt::print("{:<14} {} ({})\n", way, ways[way].get<bool>() ? "used" : "not used",
               text(ways[std::string(way) + "_reason"]));
  print_providers(info["providers"]);
  print_features(info["providers"]);
  fab::tools::print_lengths(info["lengths"]);
  print_variables(info["variables"]);
}

ordered_json describe_algorithms() {
  ordered_json rows = ordered_json::array();
  for (const fab::collectives::Algorithm& row : fab::collectives::algorithms())
    rows.push_back({{"collective", to_string(row.collective)},
                    {"algorithm", row.name},
                    {"description", row.description},
                    {"restriction", row.restriction.text},
                    {"segmentable", row.cut != fab::collectives::Cut::never},
                    {"teaching", row.teaches},
                    {"variable", fab::algorithm_variable(row.collective)}});
  for (const fab::collectives::DiscoverRow& row : fab::collectives::discover_algorithms())
    rows.push_back({{"collective", "discover"},
                    {"algorithm", row.name},
                    {"description", row.description},
                    {"restriction", ""},
                    {"segmentable", false},
                    {"teaching", false},
                    {"variable", "FAB_ALGO_DISCOVER"}});
  return rows;
}

void print_algorithms(const ordered_json& rows, bool teaching) {
  std::string collective;
  for (const ordered_json& row : rows) {
    const auto text = [&row](const char* field) { return row[field].get<std::string>(); };
    if (row["teaching"].get<bool>() != teaching) continue;
    if (text("collective") != collective) fmt::print("{} ({})\n", text("collective"), text("variable"));
    collective = text("collective");
    fmt::print("  {:<20} {}{}\n", text("algorithm"), text("description"),
               text("restriction").empty() ? "" : "; only for " + text("restriction"));
  }
}

int run_algorithms(bool json) {
  if (fab::open_store()->job().rank != 0) return EXIT_SUCCESS;
  const ordered_json rows = describe_algorithms();
  if (json) {
    fmt::print("{}\n", rows.dump(2));
    return EXIT_SUCCESS;
  }
  print_algorithms(rows, false);
  fmt::print("\nto teach, used only where the variable names them:\n");
  print_algorithms(rows, true);
  return EXIT_SUCCESS;
}

/// What all ranks have done and waited for after some exchanges with their neighbours in a ring: with itself, in a job
/// of one.
int run_statistics(bool json) {
  constexpr int kExchanges = 1000;
  constexpr double kTimeoutS = 10;
  const std::string key = "fab_info.statistics";
  const fab::Context context = fab::Context::open();
  const fab::Communicator ring = context.world().cartesian({context.size()}, {true});
  const std::array<int, 2> out{};
  std::array<int, 2> in{};
  for (int i = 0; i < kExchanges; ++i) fab::neighbor_xchg(ring, out, in);
  fab::core::Context& core = fab::Access::core(ring)->context();
  core.tell_statistics(key);
  if (context.rank() != 0) return EXIT_SUCCESS;
  const fab::core::JobStatistics job = core.gather_statistics(key, kTimeoutS);
  if (json) {
    fmt::print("{}", fab::core::job_json(job.told, job.silent));
    return EXIT_SUCCESS;
  }
  fmt::print("after {} exchanges over {}\n{}\ncounters of rank 0\n", kExchanges, context.transport(),
             fab::core::statistics_page(job.told));
  const fab::Statistics counted = context.statistics();
  for (const fab::core::Figure& figure : fab::core::counter_figures())
    if (figure.unit == fab::core::FigureUnit::count)
      fmt::print("  {:<16} {:>8}  {}\n", figure.path, counted.counter(figure.path), figure.meaning);
  return EXIT_SUCCESS;
}

/// Those of one object of statistics, as JSON has them.
template <class Figures>
ordered_json describe_figures(const char* of, const Figures& figures) {
  ordered_json rows = ordered_json::array();
  for (const fab::core::Figure& figure : figures)
    rows.push_back({{"of", of},
                    {"name", figure.path},
                    {"unit", to_string(figure.unit)},
                    {"meaning", figure.meaning},
                    {"variable", figure.variable == nullptr ? std::string() : fab::core::variable_name(figure)}});
  return rows;
}

ordered_json describe_counters() {
  ordered_json all = describe_figures("rank", fab::core::counter_figures());
  for (const ordered_json& more : {describe_figures("operation", fab::core::operation_figures()),
                                   describe_figures("operation's way", fab::core::operation_way_figures()),
                                   describe_figures("peer", fab::core::peer_figures()),
                                   describe_figures("way to a peer", fab::core::way_figures())})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// What is counted, without values.
int run_counters(bool json) {
  const ordered_json rows = describe_counters();
  if (json) {
    fmt::print("{}\n", rows.dump(2));
    return EXIT_SUCCESS;
  }
  std::string of;
  for (const ordered_json& row : rows) {
    const auto text = [&row](const char* field) { return row[field].get<std::string>(); };
    if (text("of") != of)
      fmt::print("{}of each {:<17} {:<24} {:<6} {}\n", of.empty() ? "" : "\n", text("of"), "MPI_T variable", "unit",
                 "meaning");
    of = text("of");
    fmt::print("  {:<23} {:<24} {:<6} {}\n", text("name"), text("variable").empty() ? "-" : text("variable"),
               text("unit").empty() ? "-" : text("unit"), text("meaning"));
  }
  return EXIT_SUCCESS;
}

/// Without their values: nothing is read, so that it prints them in every environment.
int run_variables(bool json) {
  ordered_json rows = ordered_json::array();
  for (const fab::ConfigRow& row : fab::config_rows())
    rows.push_back({{"name", row.name}, {"default", row.default_value}, {"help", row.help}});
  if (json) {
    fmt::print("{}\n", rows.dump(2));
    return EXIT_SUCCESS;
  }
  for (const fab::ConfigRow& row : fab::config_rows())
    fmt::print("{} (default: {})\n    {}\n", row.name, *row.default_value ? row.default_value : "empty", row.help);
  return EXIT_SUCCESS;
}

int run(bool json) {
  const fab::Config config = fab::read_config();
  const std::unique_ptr<fab::Store> store = fab::open_store();
  if (store->job().rank != 0) return EXIT_SUCCESS;
  const ordered_json info = {{"fab", describe_build()},
                             {"job", describe_job(store->job())},
                             {"transports", describe_transports(config, store->job())},
                             {"providers", describe_providers(config, store->job())},
                             {"lengths", fab::tools::describe_lengths(config)},
                             {"variables", describe_variables(config)}};
  if (json)
    fmt::print("{}\n", info.dump(2));
  else
    print(info);
  fab::ofi::check_interface(config, store->job());  // with which no program could open fab
  return EXIT_SUCCESS;
}

int run_choose(const fab::tools::ChooseQuestion& question, bool json) {
  if (question.collective == fab::tools::kNeighborChoice) {
    if (question.dealt)
      throw fab::Error(fab::Errc::invalid_argument, "--dealt is for collectives; of neighbor --edges tells all");
    if (question.processors)
      throw fab::Error(fab::Errc::invalid_argument, "--processors is for collectives; neighbor does not depend on it");
    if (question.tcp)
      throw fab::Error(fab::Errc::invalid_argument,
                       "--tcp is for collectives; neighbor tells of both kinds of networks");
    const auto rows = fab::tools::neighbor_rows(question, fab::read_config());
    fmt::print("{}", json ? rows.dump(2) + "\n" : fab::tools::neighbor_text(rows));
    return EXIT_SUCCESS;
  }
  const auto rows = fab::tools::choose_rows(question, fab::collectives::with_rules(fab::read_config()));
  fmt::print("{}", json ? rows.dump(2) + "\n" : fab::tools::choose_text(rows));
  return EXIT_SUCCESS;
}

void write_file(const std::string& name, const std::string& content) {
  std::ofstream file(name);
  file << content;
  file.close();
  if (!file)
    throw fab::Error(fab::Errc::invalid_argument, fmt::format("--svg {}: cannot be written", fab::in_quotes(name)));
}

int run_map(const fab::tools::MapQuestion& question, bool json, const std::string& svg_file) {
  const std::unique_ptr<fab::Store> store = fab::open_store();
  if (store->job().rank != 0) return EXIT_SUCCESS;
  const fab::tools::MapReport report = fab::tools::make_map_report(question, store->nodes());
  if (json)
    fmt::print("{}\n", fab::tools::to_json(report).dump(2));
  else
    fmt::print("{}", fab::tools::to_text(report, isatty(STDOUT_FILENO) == 1));
  if (!svg_file.empty()) write_file(svg_file, fab::tools::to_svg(report));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  CLI::App app(
      "Shows the version of fab, the provider that it would use here and why, and every FAB_ variable with its value.",
      "fab_info");
  bool json = false;
  bool algorithms = false;
  bool statistics = false;
  bool variables = false;
  bool counters = false;
  app.set_version_flag("--version", "fab_info " FAB_VERSION, "Print the version, and nothing else");
  app.add_flag("--json", json, "Print JSON");
  app.add_flag("--algorithms", algorithms, "Instead, print the algorithms of the collectives");
  app.add_flag("--statistics", statistics, "Instead, exchange some data and print the statistics of a context");
  app.add_flag("--counters", counters, "Instead, print what statistics count: name, unit and meaning of each");
  app.add_flag("--variables", variables, "Instead, print every FAB_ variable with its default");
  fab::tools::MapQuestion question;
  std::string svg_file;
  CLI::Option* map = app.add_option(
      "--map", question.dims, "Show how nodes divide this grid of ranks, e.g. 8x4x4; fab chooses extents that are 0");
  app.add_option("--nodes", question.nodes, "Ranks on each node, e.g. 4,4,2 or 3x4,2; default: those of this job")
      ->needs(map);
  app.add_flag("--periodic", question.periodic, "The grid is periodic in all dimensions")->needs(map);
  app.add_option("--svg", svg_file, "Draw the grid before and after reordering into this file")->needs(map);
  fab::tools::ChooseQuestion choice;
  CLI::Option* choose =
      app.add_option("--choose", choice.collective,
                     "Show which algorithm a call of this collective takes, and why, e.g. allreduce; neighbor: "
                     "whether persistent neighbor exchanges go by nodes");
  app.add_option("-n,--ranks", choice.ranks, "Numbers of ranks, e.g. 16,1k,1M")->delimiter(',')->needs(choose);
  CLI::Option* ppn = app.add_option("--ppn", choice.per_node, "Ranks on each node")->needs(choose);
  app.add_option("--processors", choice.processors, "Processors of each node, if fewer than its ranks")->needs(choose);
  app.add_option("-b,--bytes", choice.bytes, "Bytes of the vector, or of each block, e.g. 8,64k,1M")
      ->delimiter(',')
      ->needs(choose);
  app.add_option("--edges", choice.edges, "neighbor: of each rank, to ranks of another node")->needs(choose);
  app.add_flag("--tcp", choice.tcp, "No card carries what goes between nodes: the kernel's TCP does")->needs(choose);
  app.add_flag("--ordered", choice.ordered, "The operation of a reduction does not commute")->needs(choose);
  bool dealt = false;
  app.add_flag("--dealt", dealt, "The nodes of --nodes or --ppn get ranks in turn, as by mpirun --map-by node");
  return fab::tools::run_tool(app, argc, argv, [&] {
    if (dealt && !question.nodes && !*ppn)
      throw fab::Error(fab::Errc::invalid_argument, "--dealt requires --nodes or --ppn");
    question.dealt = choice.dealt = dealt;
    if (variables) return run_variables(json);
    if (counters) return run_counters(json);
    if (*choose) return run_choose(choice, json);
    if (*map) return run_map(question, json, svg_file);
    if (statistics) return run_statistics(json);
    return algorithms ? run_algorithms(json) : run(json);
  });
}
