// fab_perf overlap: how much of a non-blocking exchange or collective hides behind a computation that never asks about
// it: fab against the MPI library, in turns inside one job. Columns, formula and computation are those of the OSU
// micro-benchmarks (osu_ialltoall): it computes for as long as the exchange alone takes, by the clock. With
// --fixed-work it does a fixed amount of work instead, timed alone beside each batch: then the processor time that a
// library's own threads, and the kernel on their behalf, take from the computation counts against the overlap, too.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

#include "apps/mpi_call.h"
#include "perf/command.h"
#include "perf/size_progress.h"
#include "support/batches.h"
#include "support/computation.h"
#include "support/contest.h"
#include "support/exchange_options.h"
#include "support/explained_way.h"
#include "support/mpi_program.h"
#include "support/overlap_subject.h"
#include "support/table.h"

namespace perf {
namespace {

using apps::check_mpi;
using bench::Spread;

struct OverlapOptions : bench::ExchangeOptions {
  std::vector<bench::Collective> collectives;  ///< in place of exchanges between neighbours
  bool same_computation = false;
  bool fixed_work = false;
  bool explain = false;
};

// Microseconds per call, one value for each batch.
struct Parts {
  std::vector<double> pure;     // start and wait, nothing between
  std::vector<double> compute;  // the computation alone
  std::vector<double> overall;  // start, computation, wait
  std::vector<double> start;    // parts of overall
  std::vector<double> wait;
  std::optional<bench::Percentiles> single_overall{};  // of single calls, if the plan asks for them
};

// max(0, 100 - 100 (overall - compute) / pure), batch by batch.
std::vector<double> overlap_percent(const Parts& times) {
  std::vector<double> percent;
  for (std::size_t i = 0; i < times.pure.size(); ++i)
    percent.push_back(std::max(0.0, 100 - 100 * (times.overall[i] - times.compute[i]) / times.pure[i]));
  return percent;
}

double median(const std::vector<double>& sample) { return bench::spread_of(sample).median; }

// One library's call of one size.
class Overlapping {
 public:
  Overlapping(bench::NonblockingCall call, bench::Computation& computation, const OverlapOptions& options)
      : call_(std::move(call)),
        computation_(computation),
        fixed_work_(options.fixed_work),
        percentiles_(options.plan.percentiles) {
    calls_ = bench::calls_per_batch(options.plan, [this](int count) {
      for (int i = 0; i < count; ++i) make_call();
    });
    constexpr int kTrials = 5;
    std::vector<double> trials_us(kTrials);
    for (double& trial_us : trials_us) trial_us = time_pure();
    pure_us_ = median(trials_us);
  }

  const bench::NonblockingCall& call() const { return call_; }
  double pure_us() const { return pure_us_; }  // of this rank: a root's differs from the others'
  void set_computation(double microseconds) {
    compute_us_ = microseconds;
    rounds_ = computation_.rounds_for(microseconds);
  }

  void run_batch() {
    times_.pure.push_back(time_pure());
    times_.compute.push_back(mean_us([this] { compute(); }));
    double start_s = 0;
    double wait_s = 0;
    times_.overall.push_back(mean_us([&] {
      const double begin = MPI_Wtime();
      call_.start();
      const double started = MPI_Wtime();
      compute();
      const double computed = MPI_Wtime();
      call_.wait();
      const double end = MPI_Wtime();
      start_s += started - begin;
      wait_s += end - computed;
      if (percentiles_) single_overall_us_.push_back(1e6 * (end - begin));
    }));
    times_.start.push_back(1e6 * start_s / calls_);
    times_.wait.push_back(1e6 * wait_s / calls_);
  }

  // The means over the ranks. Collective.
  Parts times() const {
    Parts result = times_;
    for (auto* values : {&result.pure, &result.compute, &result.overall, &result.start, &result.wait})
      bench::average_over_ranks(*values);
    if (percentiles_) result.single_overall = bench::mean_percentiles(single_overall_us_);
    return result;
  }

 private:
  void compute() const {
    if (fixed_work_)
      computation_.run(rounds_);
    else
      computation_.run_for(compute_us_);
  }

  // Each call behind a barrier, which is not timed.
  template <class Call>
  double mean_us(Call call) const {
    double seconds = 0;
    for (int i = 0; i < calls_; ++i) {
      check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
      const double begin = MPI_Wtime();
      call();
      seconds += MPI_Wtime() - begin;
    }
    return 1e6 * seconds / calls_;
  }

  void make_call() const {
    call_.start();
    call_.wait();
  }

  double time_pure() const {
    return mean_us([this] { make_call(); });
  }

  bench::NonblockingCall call_;
  bench::Computation& computation_;
  bool fixed_work_;
  bool percentiles_;
  int calls_ = 1;
  double compute_us_ = 0;
  long rounds_ = 1;  // of the computation, if it is fixed work
  double pure_us_ = 0;
  Parts times_;
  std::vector<double> single_overall_us_;
};

/// One library's part of one size.
struct Library {
  std::string library;
  std::string call;
  Parts times;
  std::string way;  ///< with --explain, of fab's messages
};

class Overlap {
 public:
  Overlap(const OverlapOptions& options, const Job& job)
      : options_(options), job_(job), rows_(options.files, job.rank == 0) {}

  void run() {
    if (options_.collectives.empty()) measure(*bench::neighbor_subject(options_.pattern, options_.memory));
    if (!options_.collectives.empty()) {
      bench::FabCollectives fab;
      for (const bench::Collective collective : options_.collectives)
        measure(*bench::collective_subject(collective, options_.memory, fab));
    }
    rows_.write();
  }

 private:
  void measure(bench::OverlapSubject& subject) {
    std::optional<bench::Table> table;
    const auto sizes = bench::sizes(options_);
    SizeProgress progress("overlap", job_, sizes.size());
    for (const std::size_t bytes : sizes) {
      progress.next();
      const auto results = time(subject, bytes);
      progress.clear();
      if (job_.rank != 0) continue;
      if (!table) table.emplace(start_table(subject, results));
      for (const Library& result : results) {
        table->print(cells(bytes, result, results.front()));
        rows_.add(row(subject, bytes, result));
      }
    }
  }

  bench::Table start_table(const bench::OverlapSubject& subject, const std::vector<Library>& results) const {
    const auto path = subject.path();
    const bench::Row fields = subject.fields();
    const std::string name = fields.value("collective", fields.value("pattern", ""));
    fmt::print("\n# {} overlap, {}: {} ranks; {}MPI: {}\n", program_name(), name, job_.ranks,
               path ? fmt::format("on {} node(s); fab: {}; ", path->nodes, path->name) : "", bench::mpi_library());
    fmt::print("# ");
    for (const Library& result : results) fmt::print("{}: {}, ", result.library, result.call);
    fmt::print("cached calls, no calls to MPI_Test while computing\n");
    fmt::print("# {}; us per call: mean over ranks, median of {} batches in turns; the computation {} {}\n",
               subject.unit(), options_.plan.batches, options_.fixed_work ? "is a fixed amount of work for" : "takes",
               options_.same_computation ? "the longest of the pure times" : "the pure time");
    fmt::print("# overlap % = max(0, 100 - 100 (overall - compute) / pure): median (quartiles)\n");
    if (options_.plan.percentiles) fmt::print("# P50, P90, P99: of the overall times of single calls\n");
    std::vector<std::string> titles = {"bytes", "library", "overall us"};
    for (const std::string& title : bench::percentile_titles(options_.plan, "overall")) titles.push_back(title);
    titles.insert(titles.end(), {"compute us", "start us", "wait us", "pure us", "         overlap %"});
    if (options_.same_computation) titles.emplace_back("     MPI/fab overall");
    if (tells_way(results.front())) titles.push_back(bench::ways_title("fab"));
    return bench::Table(titles);
  }

  std::vector<Library> time(bench::OverlapSubject& subject, std::size_t bytes) {
    std::deque<Overlapping> all;  // which are not moved
    for (bench::NonblockingCall& call : subject.calls(bytes)) {
      if (options_.against == bench::Against::mpi || call.library == "fab")
        all.emplace_back(std::move(call), computation_, options_);
    }
    double longest_us = 0;
    for (const Overlapping& one : all) longest_us = std::max(longest_us, one.pure_us());
    for (Overlapping& one : all) one.set_computation(options_.same_computation ? longest_us : one.pure_us());
    for (int batch = 0; batch < options_.plan.batches; ++batch) {
      for (Overlapping& one : all) one.run_batch();
    }
    std::vector<Library> results;
    results.reserve(all.size());
    for (const Overlapping& one : all) results.push_back({one.call().library, one.call().call, one.times(), ""});
    if (tells_way(results.front())) results.front().way = bench::ways_text(subject.ways_taken());
    return results;
  }

  // `first`: of the results of a size. In a build without fab there is none.
  [[nodiscard]] bool tells_way(const Library& first) const { return options_.explain && first.library == "fab"; }

  // The ratio stands in the line of the library that is compared with fab, the first one.
  std::vector<std::string> cells(std::size_t bytes, const Library& result, const Library& fab) const {
    const Parts& times = result.times;
    const Spread overlap = bench::spread_of(overlap_percent(times));
    std::vector<std::string> cells = {std::to_string(bytes), result.library, bench::number(median(times.overall))};
    for (const std::string& cell : bench::percentile_cells(options_.plan, times.single_overall)) cells.push_back(cell);
    for (const auto* values : {&times.compute, &times.start, &times.wait, &times.pure})
      cells.push_back(bench::number(median(*values)));
    cells.push_back(fmt::format("{:.1f} ({:.1f}-{:.1f})", overlap.median, overlap.lower, overlap.upper));
    const bool is_other = fab.library == "fab" && result.library != "fab";
    if (options_.same_computation)
      cells.push_back(is_other ? bench::ratio_text(bench::spread_of(bench::ratios(times.overall, fab.times.overall)))
                               : "");
    if (tells_way(fab)) cells.push_back(result.way);
    return cells;
  }

  bench::Row row(const bench::OverlapSubject& subject, std::size_t bytes, const Library& result) const {
    bench::Row row = bench::common_fields("overlap", options_, job_.ranks, subject.path());
    row.update(subject.fields());
    row["library"] = result.library;
    row["form"] = "nonblocking";
    row["timed"] = "cached call, overall with computation";
    row["same_computation"] = options_.same_computation;
    row["fixed_work"] = options_.fixed_work;
    row["bytes"] = bytes;
    if (!result.way.empty()) row["way"] = result.way;
    bench::add_times(row, "overlap_percent", overlap_percent(result.times));
    bench::add_times(row, "overall_us", result.times.overall);
    bench::add_percentiles(row, "overall_us", result.times.single_overall);
    bench::add_times(row, "compute_us", result.times.compute);
    bench::add_times(row, "start_us", result.times.start);
    bench::add_times(row, "wait_us", result.times.wait);
    bench::add_times(row, "pure_us", result.times.pure);
    return row;
  }

  const OverlapOptions& options_;
  Job job_;
  bench::Computation computation_;
  bench::Rows rows_;
};

}  // namespace

Action add_overlap(CLI::App& app) {
  const auto options = std::make_shared<OverlapOptions>();
  options->sizes = "4k:4M";
  options->plan = {.batches = 15, .batch_ms = 10};
  using bench::Pattern;
  bench::add_pattern_options(app, options->pattern, {Pattern::ring, Pattern::pair, Pattern::grid, Pattern::random});
  bench::add_run_options(app, *options, "Bytes per neighbour, or of the vector or block: a range or a list");
  bench::add_choices(app, "-c,--collective", options->collectives, bench::all_collectives(),
                     "Measure these collectives, separated by commas, instead of neighbour exchanges");
  bench::add_percentile_option(app, options->plan);
  app.add_flag(
      "--same-computation", options->same_computation,
      "Give both libraries the same computation, as long as the slower exchange, so that their overall times can "
      "be compared; by default each gets one as long as its own exchange, as OSU does");
  app.add_flag(
      "--fixed-work", options->fixed_work,
      "Compute a fixed amount of work instead of for a fixed time as OSU does; processor time that the exchange "
      "takes from the computation then counts against the overlap");
  app.add_flag("--explain", options->explain,
               "Tell which ways fab's messages of each size took, as counted in one more call; of neighbour exchanges "
               "a call of the native API");
  return {.run = [options](const Job& job) { Overlap(*options, job).run(); }};
}

}  // namespace perf
