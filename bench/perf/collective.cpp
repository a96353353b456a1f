// fab_perf collective: latency of collectives, fab's and the MPI library's in turns inside one job. Roots go round, so
// that the calls of a batch depend on each other and their mean is the time of one.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "perf/command.h"
#include "perf/size_progress.h"
#include "support/at_once.h"
#include "support/contest.h"
#include "support/exchange_options.h"
#include "support/explained_way.h"
#include "support/fab_collectives.h"
#include "support/mpi_collectives.h"
#include "support/mpi_program.h"
#include "support/own_comm.h"
#include "support/table.h"

namespace perf {
namespace {

using bench::Collective;
using bench::CollectiveCase;
using bench::Contestant;
using bench::Form;
using bench::Result;
using bench::Spread;

constexpr std::array kCollectiveForms = {Form::blocking, Form::nonblocking};
constexpr const char* kUnknown = "its own";  // MPI libraries do not tell

struct CollectiveOptions : bench::RunOptions {
  bool flat = false;
  bool mpi_only = false;
  bool explain = false;
  std::vector<Collective> collectives;
  std::vector<Form> forms;
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

class Collectives {
 public:
  Collectives(const CollectiveOptions& options, const Job& job)
      : options_(options), job_(job), team_(options.threads.count), rows_(options.files, job.rank == 0) {
    if (options.mpi_only && options.threads.engines > 1)
      throw std::runtime_error(
          fmt::format("--engines {} with --mpi-only: engines are fab's; 1 is valid", options.threads.engines));
    if (!options.mpi_only) fab_.emplace(bench::FabRules::own, options.threads);
    if (options.flat) flat_.emplace(bench::FabRules::flat, options.threads);
    for (int thread = 0; thread < team_.size(); ++thread) comms_.emplace_back();
  }

  void run() {
    SizeProgress progress("collective", job_, bench::sizes(options_).size() * options_.collectives.size());
    for (const Collective collective : options_.collectives) {
      for (const std::size_t bytes : sizes(collective)) {
        progress.next();
        std::deque<CollectiveCase> cases;
        for (int thread = 0; thread < team_.size(); ++thread)
          cases.emplace_back(collective, bytes, options_.memory, bench::Roots::in_turns, thread);
        const auto results = time(cases);
        progress.clear();
        if (job_.rank == 0) show(cases.front(), results);
      }
    }
    if (job_.rank == 0 && compares()) sum_up();
    rows_.write();
  }

 private:
  [[nodiscard]] std::optional<bench::FabPath> path() const { return fab_ ? fab_->path() : std::nullopt; }
  [[nodiscard]] std::vector<std::size_t> sizes(Collective collective) const {
    return collective == Collective::barrier ? std::vector<std::size_t>{0} : bench::sizes(options_);
  }

  [[nodiscard]] bool compares() const { return path() && options_.against == bench::Against::mpi; }

  std::vector<Contestant> contestants(CollectiveCase& one) {
    std::vector<Contestant> all;
    const auto add = [&all](std::vector<Contestant> more) { std::ranges::move(more, std::back_inserter(all)); };
    if (fab_) add(fab_->contestants(one));
    if (flat_) add(flat_->contestants(one));
    if (options_.against == bench::Against::mpi)
      add(bench::mpi_collectives(one, comms_[static_cast<std::size_t>(one.thread())].get()));
    std::erase_if(all, [&](const Contestant& each) {
      return std::ranges::find(options_.forms, each.form) == options_.forms.end();
    });
    for (Contestant& each : all) each.calls = one.noting_the_end(std::move(each.calls));
    return all;
  }

  /// `cases` are those of the threads.
  std::vector<Result> time(std::deque<CollectiveCase>& cases) {
    std::vector<std::vector<Contestant>> of_threads;
    for (CollectiveCase& one : cases) of_threads.push_back(contestants(one));
    const std::vector<Contestant> all = bench::at_once(team_, std::move(of_threads));
    std::vector<Result> results = bench::contest(all, options_, [&cases](const Contestant& each) {
      CollectiveCase::try_out(
          cases, [&each] { each.calls(1); }, each.call);
      return true;
    });
    if (options_.explain) observe(all, cases.front());
    return results;
  }

  /// The ways of the calls that were timed last. Collective.
  void observe(const std::vector<Contestant>& all, const CollectiveCase& one) {
    ways_.clear();
    for (const Contestant& each : all) {
      const auto& its = each.library == "flat" ? flat_ : fab_;
      if (each.library == "MPI") continue;
      ways_[{each.library, each.form}] =
          bench::ways_text(its->ways_during(one.collective(), [&] { each.calls(one.roots()); }));
    }
  }

  void show(const CollectiveCase& one, const std::vector<Result>& results) {
    if (!table_) start_table();
    const std::string algorithm = fab_ ? fab_->algorithm(one) : std::string();
    for (const Form form : kCollectiveForms) {
      if (std::ranges::any_of(results, [&](const Result& result) { return result.form == form; }))
        table_->print(cells(one, algorithm, form, results));
    }
    for (const Result& result : results)
      rows_.add(row(one, result.library == "flat" ? flat_->algorithm(one) : algorithm, result));
  }

  void start_table() {
    fmt::print("\n# {} collective: {}; MPI: {}; {} memory\n", program_name(),
               bench::job_text(options_, job_.ranks, path()), bench::mpi_library(), bench::name_of(options_.memory));
    fmt::print(
        "# bytes of the vector, or of the block of one rank; sums of doubles; roots go round; cached calls (plans "
        "built, peers connected)\n# us per call: mean over ranks, median of {} batches in turns\n",
        options_.plan.batches);
    bench::print_threads_line(options_);
    if (compares())
      fmt::print("# MPI/fab: MPI's call of the same form; ratios of neighbouring batches: median (quartiles)\n");
    if (flat_) fmt::print("# flat: fab's algorithms that know nothing of nodes\n");
    table_.emplace(titles());
  }

  [[nodiscard]] std::vector<std::string> titles() const {
    std::vector<std::string> titles = {"          collective", "bytes", "       form"};
    const auto add_library = [&](const char* name) {
      for (const std::string& title : bench::time_titles(options_, name)) titles.push_back(title);
    };
    if (path()) add_library("fab");
    if (options_.against == bench::Against::mpi) add_library("MPI");
    if (compares()) titles.emplace_back("             MPI/fab");
    if (path()) titles.emplace_back("fab's algorithm");
    if (path() && options_.explain) titles.push_back(bench::ways_title("fab"));
    if (flat_) titles.insert(titles.end(), {"flat us", "            flat/fab"});
    if (flat_ && options_.explain) titles.push_back(bench::ways_title("flat"));
    if (compares()) titles.emplace_back("");
    return titles;
  }

  std::vector<std::string> cells(const CollectiveCase& one, const std::string& algorithm, Form form,
                                 const std::vector<Result>& results) {
    std::vector<std::string> cells = {bench::name_of(one.collective()), std::to_string(one.bytes()),
                                      bench::name_of(form)};
    const auto add_library = [&](const Result* result) {
      for (const std::string& cell : bench::time_cells(options_, result)) cells.push_back(cell);
    };
    const Result* const fab = find(results, "fab", form);
    const Result* const mpi = find(results, "MPI", form);
    if (fab != nullptr) add_library(fab);
    if (mpi != nullptr) add_library(mpi);
    if (fab == nullptr) return cells;
    if (mpi != nullptr) leads_.push_back({one.collective(), form, one.bytes(), algorithm, lead(*fab, *mpi)});
    if (mpi != nullptr) cells.push_back(bench::ratio_text(leads_.back().ratio));
    cells.push_back(algorithm);
    if (options_.explain) cells.push_back(ways_.at({"fab", form}));
    if (const Result* const flat = find(results, "flat", form); flat != nullptr) {
      cells.insert(cells.end(), {bench::number(median_us(*flat)), bench::ratio_text(lead(*fab, *flat))});
      if (options_.explain) cells.push_back(ways_.at({"flat", form}));
    }
    if (mpi != nullptr) cells.emplace_back(leads_.back().ratio.median < 1 ? "fab slower" : "");
    return cells;
  }

  bench::Row row(const CollectiveCase& one, const std::string& algorithm, const Result& result) const {
    bench::Row row = bench::common_fields("collective", options_, job_.ranks, path());
    row["collective"] = bench::name_of(one.collective());
    row["algorithm"] = result.library == "MPI" ? kUnknown : algorithm;
    if (const auto found = ways_.find({result.library, result.form}); found != ways_.end()) row["way"] = found->second;
    row["bytes"] = one.bytes();
    bench::add_calls_of_threads(row, options_, result);
    bench::add_result(row, result);
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

  const CollectiveOptions& options_;
  Job job_;
  bench::ThreadTeam team_;
  std::deque<bench::OwnComm> comms_;  ///< by thread
  std::optional<bench::FabCollectives> fab_;
  std::optional<bench::FabCollectives> flat_;
  std::optional<bench::Table> table_;
  std::vector<Lead> leads_;
  std::map<std::pair<std::string, Form>, std::string> ways_;  ///< by library and form, of one collective and size
  bench::Rows rows_;
};

}  // namespace

Action add_collective(CLI::App& app) {
  const auto options = std::make_shared<CollectiveOptions>();
  options->sizes = "8:1M";
  options->plan = {.batches = 15, .batch_ms = 3};
  options->collectives = bench::all_collectives();
  options->forms = {kCollectiveForms.begin(), kCollectiveForms.end()};
  bench::add_run_options(app, *options, "Bytes of the vector, or of the block of one rank: a range or a list");
  bench::add_contest_options(app, *options);
  bench::add_choices(app, "-c,--collective", options->collectives, bench::all_collectives(),
                     "Measure only these, separated by commas; all is the default");
  bench::add_choices(app, "--form", options->forms, {kCollectiveForms.begin(), kCollectiveForms.end()},
                     "Measure only calls of these forms; all is the default");
  bench::add_thread_options(app, options->threads);
  auto* const flat = app.add_flag("--flat", options->flat, "Measure fab's algorithms that know nothing of nodes, too");
  auto* const explain = app.add_flag(
      "--explain", options->explain,
      "Tell which ways fab's messages of each size took, too, as counted in more calls, one with each root");
  app.add_flag("--mpi-only", options->mpi_only, "Measure the MPI library's calls only")->excludes(flat, explain);
  return {.run = [options](const Job& job) { Collectives(*options, job).run(); },
          .has_threads = [options] { return options->threads.count > 1; }};
}

}  // namespace perf
