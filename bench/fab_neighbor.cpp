// Latency of neighbour exchanges, all ways to make one in turns inside one job: fab's, the MPI library's neighbour
// collectives and what users write by hand. Where fab goes through the network to one peer, libfabric alone and a bare
// socket too. Built with another MPI library (mpich_neighbor) there is no fab in it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "bindings/tools/output.h"
#include "support/exchange_options.h"
#include "support/fab_forms.h"
#include "support/mpi_forms.h"
#include "support/mpi_program.h"
#include "support/table.h"

namespace {

using bench::Contestant;
using bench::Exchange;
using bench::Form;

constexpr std::array kForms = {Form::blocking, Form::nonblocking, Form::persistent};

struct Options : bench::ExchangeOptions {
  std::optional<Form> form;  ///< all, if none is named
};

bool is_of_mpi(const std::string& library) { return library == "MPI" || library == "by hand"; }

/// One contestant's part of one size.
struct Result {
  std::string library;
  Form form;
  std::string call;
  bool is_in_place;
  std::vector<double> times_us;  ///< by batch
};

class Benchmark {
 public:
  Benchmark(const Options& options, int rank, int ranks)
      : options_(options), rank_(rank), ranks_(ranks), neighbors_(options.pattern), fab_(neighbors_) {}

  void run() {
    if (rank_ == 0) bench::write_rows(options_.json, rows_);  // a file that cannot be written is found before the work
    for (const std::size_t bytes : bench::sizes(options_)) {
      const auto results = time(bytes);
      if (rank_ == 0) show(bytes, results);
    }
    if (rank_ == 0) bench::write_rows(options_.json, rows_);
  }

 private:
  std::vector<Contestant> contestants(Exchange& exchange) {
    std::vector<Contestant> all = fab_.contestants(exchange);
    for (Contestant& contestant : bench::mpi_forms(exchange)) all.push_back(std::move(contestant));
    if (options_.form) std::erase_if(all, [&](const Contestant& one) { return one.form != *options_.form; });
    return all;
  }

  // Every contestant moves checked data once, untimed.
  std::vector<Result> time(std::size_t bytes) {
    Exchange exchange(neighbors_, bytes, options_.memory);
    const auto all = contestants(exchange);
    std::vector<Result> results;
    std::vector<bench::Calls> calls;
    for (const Contestant& one : all) {
      exchange.fill();
      bench::meet();
      one.calls(1);
      const bool is_in_place = exchange.check(one.order, one.placement, one.call);
      bench::meet();
      results.push_back({one.library, one.form, one.call, is_in_place || one.placement == bench::Placement::whole, {}});
      calls.push_back(one.calls);
    }
    auto times_us = bench::time_in_turns(options_.plan, calls);
    for (std::size_t i = 0; i < results.size(); ++i) results[i].times_us = std::move(times_us[i]);
    return results;
  }

  void show(std::size_t bytes, const std::vector<Result>& results) {
    if (!table_) start_table(results);
    for (const Form form : kForms) {
      if (std::ranges::any_of(results, [&](const Result& result) { return result.form == form; }))
        table_->print(cells(bytes, form, results));
    }
    for (const Result& result : results) rows_.push_back(row(bytes, result));
  }

  void start_table(const std::vector<Result>& results) {
    const auto path = fab_.path();
    fmt::print("\n# fab_neighbor, {}: {} ranks; {}MPI: {}; {} memory\n", bench::name_of(options_.pattern), ranks_,
               path ? fmt::format("on {} node(s); fab: {}; ", path->nodes, path->name) : "", bench::mpi_library(),
               bench::name_of(options_.memory));
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
    std::vector<std::string> titles = {"bytes", "       form"};
    for (const Result& result : results) {
      if (std::ranges::find(libraries_, result.library) == libraries_.end()) libraries_.push_back(result.library);
    }
    for (const std::string& library : libraries_) titles.push_back(library + " us");
    if (path) {
      fmt::print("# {}: the faster of MPI's of the same form; ratios of neighbouring batches: median (quartiles)\n",
                 ratio_title());
      titles.insert(titles.end(), {"        " + ratio_title(), ""});
    }
    table_.emplace(titles);
  }

  [[nodiscard]] std::string fab_library() const { return options_.pattern == bench::Pattern::faces ? "native" : "fab"; }
  [[nodiscard]] std::string ratio_title() const { return "MPI/" + fab_library(); }

  static const Result* find(const std::vector<Result>& results, const std::string& library, Form form) {
    const auto found = std::ranges::find_if(
        results, [&](const Result& result) { return result.library == library && result.form == form; });
    return found == results.end() ? nullptr : &*found;
  }

  static double median_us(const Result& result) { return bench::spread_of(result.times_us).median; }

  std::vector<std::string> cells(std::size_t bytes, Form form, const std::vector<Result>& results) const {
    std::vector<std::string> cells = {std::to_string(bytes), bench::name_of(form)};
    const Result* fastest_mpi = nullptr;
    for (const std::string& library : libraries_) {
      const Result* const result = find(results, library, form);
      cells.push_back(result == nullptr ? "-" : bench::number(median_us(*result)));
      if (result == nullptr || !is_of_mpi(library)) continue;
      if (fastest_mpi == nullptr || median_us(*result) < median_us(*fastest_mpi)) fastest_mpi = result;
    }
    const Result* const fab = find(results, fab_library(), form);
    if (!fab_.path()) return cells;
    if (fab == nullptr || fastest_mpi == nullptr) {
      cells.insert(cells.end(), {"-", ""});
      return cells;
    }
    const bench::Spread ratio = bench::spread_of(bench::ratios(fastest_mpi->times_us, fab->times_us));
    cells.insert(cells.end(), {bench::ratio_text(ratio), ratio.median < 1 ? "fab slower" : ""});
    return cells;
  }

  nlohmann::json row(std::size_t bytes, const Result& result) const {
    nlohmann::json row = bench::common_fields("fab_neighbor", options_, ranks_, fab_.path());
    row["pattern"] = bench::name_of(options_.pattern);
    row["library"] = result.library;
    row["form"] = bench::name_of(result.form);
    row["timed"] = result.call;
    row["neighbors"] = neighbors_.count();
    row["bytes"] = bytes;
    row["in_place"] = result.is_in_place;
    bench::add_times(row, "us", result.times_us);
    return row;
  }

  const Options& options_;
  int rank_;
  int ranks_;
  bench::Neighbors neighbors_;
  bench::FabForms fab_;
  std::vector<std::string> libraries_;  // in the order of the table's columns
  std::optional<bench::Table> table_;
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  Options options;
  CLI::App app(
      "Measures the time of a neighbour exchange by fab, by the MPI library's neighbour collectives, by hand-written\n"
      "messages and, for one peer over the network, by libfabric or a socket alone. Ratios above 1: fab is faster.",
      "fab_neighbor");
  bench::add_exchange_options(app, options);
  const std::map<std::string, std::optional<Form>> forms{{"blocking", Form::blocking},
                                                         {"nonblocking", Form::nonblocking},
                                                         {"persistent", Form::persistent},
                                                         {"all", std::nullopt}};
  std::string form = "all";
  app.add_option("--form", form, "Measure only calls of this form; all is the default")
      ->check(CLI::IsMember({"blocking", "nonblocking", "persistent", "all"}));
  app.parse_complete_callback([&] { options.form = forms.at(form); });
  return bench::run_mpi_program(app, argc, argv, [&](int rank, int ranks) { Benchmark(options, rank, ranks).run(); });
}
