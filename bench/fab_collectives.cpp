// Latency of collectives, fab's and the MPI library's in turns inside one job. Roots go round, so that the calls of a
// batch depend on each other and their mean is the time of one. Built with another MPI library (mpich_collectives)
// there is no fab in it.
#include "support/fab_collectives.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>

#include "bindings/tools/output.h"
#include "support/exchange_options.h"
#include "support/mpi_collectives.h"
#include "support/mpi_program.h"
#include "support/table.h"

namespace {

using bench::Collective;
using bench::CollectiveCase;
using bench::Contestant;
using bench::Form;
using bench::Spread;

constexpr std::array kForms = {Form::blocking, Form::nonblocking};
constexpr const char* kUnknown = "its own";  // MPI libraries do not tell

struct Options : bench::RunOptions {
  bool flat = false;
  bool mpi_only = false;
  std::vector<Collective> collectives;
  std::vector<Form> forms;
};

/// One contestant's part of one size.
struct Result {
  std::string library;
  Form form;
  std::string call;
  std::vector<double> times_us;  ///< by batch
};

/// How many times faster fab was in one line of the table.
struct Lead {
  Collective collective;
  Form form;
  std::size_t bytes;
  std::string algorithm;
  Spread ratio;
};

double geometric_mean(const std::vector<Lead>& leads, auto&& counts) {
  double logarithms = 0;
  int counted = 0;
  for (const Lead& lead : leads) {
    if (!counts(lead)) continue;
    logarithms += std::log(lead.ratio.median);
    ++counted;
  }
  return counted == 0 ? 0 : std::exp(logarithms / counted);
}

class Benchmark {
 public:
  Benchmark(const Options& options, int rank, int ranks) : options_(options), rank_(rank), ranks_(ranks) {
    if (!options.mpi_only) fab_.emplace();
    if (options.flat) flat_.emplace(bench::FabRules::flat);
  }

  void run() {
    if (rank_ == 0) bench::write_rows(options_.json, rows_);  // a file that cannot be written is found before the work
    for (const Collective collective : options_.collectives) {
      for (const std::size_t bytes : sizes(collective)) {
        CollectiveCase one(collective, bytes, options_.memory, bench::Roots::in_turns);
        const auto results = time(one);
        if (rank_ == 0) show(one, results);
      }
    }
    if (rank_ != 0) return;
    if (path()) sum_up();
    bench::write_rows(options_.json, rows_);
  }

 private:
  [[nodiscard]] std::optional<bench::FabPath> path() const { return fab_ ? fab_->path() : std::nullopt; }
  [[nodiscard]] std::vector<std::size_t> sizes(Collective collective) const {
    return collective == Collective::barrier ? std::vector<std::size_t>{0} : bench::sizes(options_);
  }

  // Every contestant moves checked data first, untimed.
  std::vector<Result> time(CollectiveCase& one) {
    std::vector<Contestant> all;
    const auto add = [&all](std::vector<Contestant> more) { std::ranges::move(more, std::back_inserter(all)); };
    if (fab_) add(fab_->contestants(one));
    if (flat_) add(flat_->contestants(one));
    add(bench::mpi_collectives(one));
    std::erase_if(all, [&](const Contestant& each) {
      return std::ranges::find(options_.forms, each.form) == options_.forms.end();
    });
    std::vector<Result> results;
    std::vector<bench::Calls> calls;
    for (const Contestant& each : all) {
      one.try_out([&each] { each.calls(1); }, each.call);
      results.push_back({each.library, each.form, each.call, {}});
      calls.push_back(each.calls);
    }
    auto times_us = bench::time_in_turns(options_.plan, calls);
    for (std::size_t i = 0; i < results.size(); ++i) results[i].times_us = std::move(times_us[i]);
    return results;
  }

  void show(const CollectiveCase& one, const std::vector<Result>& results) {
    if (!table_) start_table();
    const std::string algorithm = fab_ ? fab_->algorithm(one) : std::string();
    for (const Form form : kForms) {
      if (std::ranges::any_of(results, [&](const Result& result) { return result.form == form; }))
        table_->print(cells(one, algorithm, form, results));
    }
    for (const Result& result : results)
      rows_.push_back(row(one, result.library == "flat" ? flat_->algorithm(one) : algorithm, result));
  }

  void start_table() {
    const auto path = this->path();
    fmt::print("\n# fab_collectives: {} ranks; {}MPI: {}; {} memory\n", ranks_,
               path ? fmt::format("on {} node(s); fab: {}; ", path->nodes, path->name) : "", bench::mpi_library(),
               bench::name_of(options_.memory));
    fmt::print(
        "# bytes of the vector, or of the block of one rank; sums of doubles; roots go round; cached calls (plans "
        "built, peers connected)\n# us per call: mean over ranks, median of {} batches in turns\n",
        options_.plan.batches);
    std::vector<std::string> titles = {"          collective", "bytes", "       form"};
    if (path) {
      fmt::print("# MPI/fab: MPI's call of the same form; ratios of neighbouring batches: median (quartiles)\n");
      titles.insert(titles.end(), {"fab us", "MPI us", "             MPI/fab", "fab's algorithm", ""});
      if (flat_) {
        fmt::print("# flat: fab's algorithms that know nothing of nodes\n");
        titles.insert(titles.end() - 1, {"flat us", "            flat/fab"});
      }
    } else {
      titles.emplace_back("MPI us");
    }
    table_.emplace(titles);
  }

  static const Result* find(const std::vector<Result>& results, const char* library, Form form) {
    const auto found = std::ranges::find_if(
        results, [&](const Result& result) { return result.library == library && result.form == form; });
    return found == results.end() ? nullptr : &*found;
  }

  static std::string median(const Result& result) { return bench::number(bench::spread_of(result.times_us).median); }

  std::vector<std::string> cells(const CollectiveCase& one, const std::string& algorithm, Form form,
                                 const std::vector<Result>& results) {
    std::vector<std::string> cells = {bench::name_of(one.collective()), std::to_string(one.bytes()),
                                      bench::name_of(form)};
    const Result* const fab = find(results, "fab", form);
    const Result& mpi = *find(results, "MPI", form);
    if (fab != nullptr) cells.push_back(median(*fab));
    cells.push_back(median(mpi));
    if (fab == nullptr) return cells;
    const Spread ratio = bench::spread_of(bench::ratios(mpi.times_us, fab->times_us));
    leads_.push_back({one.collective(), form, one.bytes(), algorithm, ratio});
    cells.insert(cells.end(), {bench::ratio_text(ratio), algorithm});
    if (const Result* const flat = find(results, "flat", form); flat != nullptr) {
      const Spread gain = bench::spread_of(bench::ratios(flat->times_us, fab->times_us));
      cells.insert(cells.end(), {median(*flat), bench::ratio_text(gain)});
    }
    cells.emplace_back(ratio.median < 1 ? "fab slower" : "");
    return cells;
  }

  nlohmann::json row(const CollectiveCase& one, const std::string& algorithm, const Result& result) const {
    nlohmann::json row = bench::common_fields("fab_collectives", options_, ranks_, path());
    row["collective"] = bench::name_of(one.collective());
    row["algorithm"] = result.library == "MPI" ? kUnknown : algorithm;
    row["library"] = result.library;
    row["form"] = bench::name_of(result.form);
    row["timed"] = result.call;
    row["bytes"] = one.bytes();
    bench::add_times(row, "us", result.times_us);
    return row;
  }

  void sum_up() const {
    fmt::print("\n# geometric means over the sizes of the medians of MPI/fab\n");
    std::vector<std::string> titles = {"          collective"};
    for (const Form form : options_.forms) titles.emplace_back(bench::name_of(form));
    const bench::Table means(titles);
    const auto print = [&](const char* name, auto&& counts) {
      std::vector<std::string> cells = {name};
      for (const Form form : options_.forms)
        cells.push_back(fmt::format(
            "{:.2f}", geometric_mean(leads_, [&](const Lead& lead) { return lead.form == form && counts(lead); })));
      means.print(cells);
    };
    for (const Collective collective : options_.collectives)
      print(bench::name_of(collective), [&](const Lead& lead) { return lead.collective == collective; });
    print("all", [](const Lead&) { return true; });
    const auto is_lost = [](const Lead& lead) { return lead.ratio.median < 1; };
    fmt::print("\n# fab is slower at {} of {} points\n", std::ranges::count_if(leads_, is_lost), leads_.size());
    for (const Lead& lead : leads_) {
      if (is_lost(lead))
        fmt::print("{}, {} bytes, {}: {}, {}\n", bench::name_of(lead.collective), lead.bytes, bench::name_of(lead.form),
                   bench::ratio_text(lead.ratio), lead.algorithm);
    }
  }

  const Options& options_;
  int rank_;
  int ranks_;
  std::optional<bench::FabCollectives> fab_;
  std::optional<bench::FabCollectives> flat_;
  std::optional<bench::Table> table_;
  std::vector<Lead> leads_;
  nlohmann::json rows_ = nlohmann::json::array();
};

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  Options options;
  options.max_bytes = std::size_t{1} << 20;
  options.plan = {.batches = 15, .batch_ms = 3};
  options.collectives = bench::all_collectives();
  options.forms = {kForms.begin(), kForms.end()};
  CLI::App app("Measures the time of collectives by fab and by the MPI library. Ratios above 1: fab is faster.",
               "fab_collectives");
  bench::add_run_options(app, options);
  bench::add_choices(app, "--collective", options.collectives, bench::all_collectives(),
                     "Measure only these, separated by commas; all is the default");
  bench::add_choices(app, "--form", options.forms, {kForms.begin(), kForms.end()},
                     "Measure only calls of these forms; all is the default");
  auto* const flat = app.add_flag("--flat", options.flat, "Measure fab's algorithms that know nothing of nodes, too");
  app.add_flag("--mpi-only", options.mpi_only, "Measure the MPI library's calls only")->excludes(flat);
  return bench::run_mpi_program(app, argc, argv, [&](int rank, int ranks) { Benchmark(options, rank, ranks).run(); });
}
