// fab_perf neighbor: latency of neighbour exchanges, all ways to make one in turns inside one job: fab's, the MPI
// library's neighbour collectives and what users write by hand. Where fab goes through the network to one peer,
// libfabric alone and a bare socket too.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "perf/command.h"
#include "perf/measurement.h"
#include "support/contest.h"
#include "support/exchange_options.h"
#include "support/exchange_team.h"
#include "support/explained_way.h"
#include "support/fab_forms.h"
#include "support/mpi_forms.h"
#include "support/mpi_program.h"

namespace perf {
namespace {

using bench::Contestant;
using bench::Exchange;
using bench::Form;
using bench::Result;
using bench::Rewrite;

constexpr std::array kNeighborForms = {Form::blocking, Form::nonblocking, Form::persistent};

struct NeighborOptions : bench::ExchangeOptions {
  std::vector<Form> forms{kNeighborForms.begin(), kNeighborForms.end()};
  bool explain = false;
  Rewrite rewrite = Rewrite::none;
};

/// The library whose messages are looked at.
constexpr const char* kObserved = "native";

/// MPI_Init reads it: the MPI binding deals communicators out to as many engines.
void give_binding_engines(const bench::ThreadOptions& threads) {
  if (setenv("FAB_ENGINES", std::to_string(threads.engines).c_str(), 1) != 0) throw std::runtime_error("setenv failed");
}

bool is_of_mpi(const std::string& library) { return library == "MPI" || library == "by hand"; }

class Neighbor final : public Measurement<NeighborOptions> {
 public:
  Neighbor(const NeighborOptions& options, const Job& job)
      : Measurement("neighbor", options, job),
        team_(neighbors_, options.pattern, options.threads.count),
        fab_(neighbors_, options.threads) {}

 private:
  std::vector<Contestant> contestants(Exchange& exchange) {
    std::vector<Contestant> all = fab_.contestants(exchange);
    if (options_.against == bench::Against::mpi)
      for (Contestant& contestant : bench::mpi_forms(exchange)) all.push_back(std::move(contestant));
    std::erase_if(all, [&](const Contestant& one) {
      return std::ranges::find(options_.forms, one.form) == options_.forms.end();
    });
    if (options_.rewrite != Rewrite::none)
      for (Contestant& one : all) one.before_each = [this, &exchange] { exchange.rewrite(options_.rewrite); };
    return all;
  }

  std::vector<Result> time(std::size_t bytes) override {
    std::deque<Exchange> exchanges = team_.exchanges(bytes, options_.memory);
    const std::vector<Contestant> all =
        team_.contestants(exchanges, [this](Exchange& exchange) { return contestants(exchange); });
    std::vector<Result> results = bench::contest(exchanges, all, options_);
    if (options_.explain) observe(all);
    return results;
  }

  /// The ways of the calls that were timed last. Collective.
  void observe(const std::vector<Contestant>& all) {
    observed_.clear();
    for (const Contestant& one : all)
      if (one.library == kObserved) observed_[one.form] = fab_.ways_taken(one);
  }

  [[nodiscard]] bench::ExplainedWay way(std::size_t bytes, Form form) const {
    bench::ExplainedWay way{.predicted = fab_.ways(bytes, options_.memory, form, options_.rewrite)};
    if (const auto found = observed_.find(form); found != observed_.end()) way.observed = found->second;
    return way;
  }

  void show(std::size_t bytes, const std::vector<Result>& results) override {
    if (!table_) start_table(results);
    for (const Form form : kNeighborForms) {
      if (std::ranges::any_of(results, [&](const Result& result) { return result.form == form; }))
        table_->print(cells(bytes, form, results));
    }
    for (const Result& result : results) rows_.add(row(bytes, result));
  }

  void start_table(const std::vector<Result>& results) {
    const auto path = fab_.path();
    fmt::print(
        "\n# {} neighbor, {}: {}; MPI: {}; {} memory{}\n", program_name(), bench::name_of(options_.pattern.pattern),
        bench::job_text(options_, job_.ranks, path), bench::mpi_library(), bench::name_of(options_.memory),
        options_.rewrite == Rewrite::none ? "" : fmt::format("; before each call: {}", name_of(options_.rewrite)));
    std::set<std::string> timed;
    for (const Result& result : results) {
      if (!timed.insert(result.library + result.call).second) continue;
      fmt::print("# {}, {}: {}\n", result.library, bench::name_of(result.form), result.call);
    }
    fmt::print(
        "# bytes per neighbour; cached calls (plans built, peers connected); us per call: mean over ranks, median of "
        "{} "
        "batches in turns\n",
        options_.plan.batches);
    bench::print_threads_line(options_);
    for (const Result& result : results) {
      if (std::ranges::find(libraries_, result.library) == libraries_.end()) libraries_.push_back(result.library);
    }
    if (compares())
      fmt::print("# {}: the faster of MPI's of the same form; ratios of neighbouring batches: median (quartiles)\n",
                 ratio_title());
    table_.emplace(titles());
  }

  [[nodiscard]] std::vector<std::string> titles() const {
    std::vector<std::string> titles = {"bytes", "       form"};
    for (const std::string& library : libraries_)
      for (const std::string& title : bench::time_titles(options_, library)) titles.push_back(title);
    if (compares()) titles.insert(titles.end(), {"        " + ratio_title(), ""});
    if (options_.explain)
      for (const std::string& title : bench::way_titles()) titles.push_back(title);
    return titles;
  }

  [[nodiscard]] bool compares() const { return fab_.path() && options_.against == bench::Against::mpi; }
  [[nodiscard]] std::string fab_library() const {
    return options_.pattern.pattern == bench::Pattern::faces ? "native" : "fab";
  }
  [[nodiscard]] std::string ratio_title() const { return "MPI/" + fab_library(); }

  std::vector<std::string> cells(std::size_t bytes, Form form, const std::vector<Result>& results) const {
    std::vector<std::string> cells = {std::to_string(bytes), bench::name_of(form)};
    const Result* fastest_mpi = nullptr;
    for (const std::string& library : libraries_) {
      const Result* const result = find(results, library, form);
      for (const std::string& cell : bench::time_cells(options_, result)) cells.push_back(cell);
      if (result == nullptr || !is_of_mpi(library)) continue;
      if (fastest_mpi == nullptr || median_us(*result) < median_us(*fastest_mpi)) fastest_mpi = result;
    }
    if (compares()) add_ratio(cells, find(results, fab_library(), form), fastest_mpi);
    if (options_.explain)
      for (const std::string& cell : bench::way_cells(way(bytes, form))) cells.push_back(cell);
    return cells;
  }

  static void add_ratio(std::vector<std::string>& cells, const Result* fab, const Result* fastest_mpi) {
    if (fab == nullptr || fastest_mpi == nullptr) {
      cells.insert(cells.end(), {"-", ""});
      return;
    }
    const bench::Spread ratio = lead(*fab, *fastest_mpi);
    cells.insert(cells.end(), {bench::ratio_text(ratio), ratio.median < 1 ? "fab slower" : ""});
  }

  bench::Row row(std::size_t bytes, const Result& result) const {
    bench::Row row = bench::common_fields(command_, options_, job_.ranks, fab_.path());
    row["pattern"] = bench::name_of(options_.pattern.pattern);
    row["neighbors"] = neighbors_.count();
    row["bytes"] = bytes;
    row["rewrite"] = name_of(options_.rewrite);
    row["in_place"] = result.is_in_place;
    if (options_.explain && !is_of_mpi(result.library)) add_way(row, bytes, result);
    bench::add_calls_of_threads(row, options_, result);
    bench::add_result(row, result);
    return row;
  }

  /// Statistics are of a context, and that of the MPI binding cannot be asked.
  void add_way(bench::Row& row, std::size_t bytes, const Result& result) const {
    bench::ExplainedWay its = way(bytes, result.form);
    if (result.library != kObserved) its.observed.reset();
    bench::add_way(row, its);
  }

  bench::ExchangeTeam team_;
  bench::FabForms fab_;
  std::vector<std::string> libraries_;              // in the order of the table's columns
  std::map<Form, std::set<std::string>> observed_;  // of one size
};

}  // namespace

Action add_neighbor(CLI::App& app) {
  const auto options = std::make_shared<NeighborOptions>();
  bench::add_exchange_options(app, *options);
  bench::add_thread_options(app, options->threads);
  bench::add_choices(app, "--form", options->forms, options->forms,
                     "Measure only calls of these forms, separated by commas; all is the default");
  app.add_flag(
      "--explain", options->explain,
      "Tell which way the messages of each size should take, and which they took; rows where these differ are marked");
  bench::add_choice(app, "--rewrite", options->rewrite, {Rewrite::none, Rewrite::fill, Rewrite::update},
                    "What each rank does to its send buffer before each call, included in the time: fill: as memset "
                    "does; update: each number from its old value")
      ->excludes("--threads");
  return {.run = [options](const Job& job) { Neighbor(*options, job).run(); },
          .has_threads = [options] { return options->threads.count > 1; },
          .before_mpi = [options] { give_binding_engines(options->threads); }};
}

}  // namespace perf
