// How much of a non-blocking neighbour exchange hides behind a computation that never asks about it: fab against the
// MPI library, in turns inside one job (the MPI library alone when built as mpich_overlap). Columns, formula and
// computation are those of the OSU micro-benchmarks (osu_ialltoall): it computes for as long as the exchange alone
// takes, by the clock. With --fixed-work it does a fixed amount of work instead, timed alone beside each batch: then
// the processor time that a library's own threads, and the kernel on their behalf, take from the computation counts
// against the overlap, too.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <stdexcept>

#include "apps/mpi_call.h"
#include "support/batches.h"
#include "support/computation.h"
#include "support/exchange_options.h"
#include "support/fab_forms.h"
#include "support/mpi_forms.h"
#include "support/mpi_program.h"
#include "support/table.h"

namespace {

using apps::check_mpi;
using bench::Exchange;
using bench::Spread;

struct Options : bench::ExchangeOptions {
  bool same_computation = false;
  bool fixed_work = false;
};

// Microseconds per call, one value for each batch.
struct Times {
  std::vector<double> pure;     // exchange and wait, nothing between
  std::vector<double> compute;  // the computation alone
  std::vector<double> overall;  // exchange, computation, wait
  std::vector<double> start;    // parts of overall
  std::vector<double> wait;
};

// max(0, 100 - 100 (overall - compute) / pure), batch by batch.
std::vector<double> overlap_percent(const Times& times) {
  std::vector<double> percent;
  for (std::size_t i = 0; i < times.pure.size(); ++i)
    percent.push_back(std::max(0.0, 100 - 100 * (times.overall[i] - times.compute[i]) / times.pure[i]));
  return percent;
}

double median(const std::vector<double>& sample) { return bench::spread_of(sample).median; }

// One library's exchange of one size.
class Contestant {
 public:
  Contestant(std::string library, std::function<MPI_Request()> start, bench::Computation& computation,
             const Options& options)
      : library_(std::move(library)),
        start_(std::move(start)),
        computation_(computation),
        fixed_work_(options.fixed_work) {
    calls_ = bench::calls_per_batch(options.plan, [this](int count) {
      for (int i = 0; i < count; ++i) exchange();
    });
    constexpr int kTrials = 5;
    std::vector<double> trials_us(kTrials);
    for (double& trial_us : trials_us) trial_us = time_pure();
    bench::average_over_ranks(trials_us);
    pure_us_ = median(trials_us);
  }

  const std::string& library() const { return library_; }
  double pure_us() const { return pure_us_; }
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
      MPI_Request request = start_();
      const double started = MPI_Wtime();
      compute();
      const double computed = MPI_Wtime();
      bench::wait(request);
      start_s += started - begin;
      wait_s += MPI_Wtime() - computed;
    }));
    times_.start.push_back(1e6 * start_s / calls_);
    times_.wait.push_back(1e6 * wait_s / calls_);
  }

  // The means over the ranks. Collective.
  Times times() const {
    Times result = times_;
    for (auto* values : {&result.pure, &result.compute, &result.overall, &result.start, &result.wait})
      bench::average_over_ranks(*values);
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

  void exchange() const {
    MPI_Request request = start_();
    bench::wait(request);
  }

  double time_pure() const {
    return mean_us([this] { exchange(); });
  }

  std::string library_;
  std::function<MPI_Request()> start_;
  bench::Computation& computation_;
  bool fixed_work_;
  int calls_ = 1;
  double compute_us_ = 0;
  long rounds_ = 1;  // of the computation, if it is fixed work
  double pure_us_ = 0;
  Times times_;
};

/// One library's part of one size.
struct Result {
  std::string library;
  Times times;
};

class Benchmark {
 public:
  Benchmark(const Options& options, int rank, int ranks)
      : options_(options), rank_(rank), ranks_(ranks), neighbors_(options.pattern), fab_(neighbors_) {
    if (options.pattern == bench::Pattern::faces)
      throw std::runtime_error("--pattern faces: blocks of one shape only are measured here");
  }

  void run() {
    nlohmann::json rows = nlohmann::json::array();
    if (rank_ == 0) bench::write_rows(options_.json, rows);  // a file that cannot be written is found before the work
    std::optional<bench::Table> table;
    if (rank_ == 0) table.emplace(start_table());
    for (const std::size_t bytes : bench::sizes(options_)) {
      const auto results = time(bytes);
      if (!table) continue;
      for (const Result& result : results) {
        table->print(cells(bytes, result));
        rows.push_back(row(bytes, result));
      }
    }
    if (rank_ == 0) bench::write_rows(options_.json, rows);
  }

 private:
  bench::Table start_table() const {
    const auto path = fab_.path();
    fmt::print("\n# fab_overlap, {}: {} ranks; {}MPI: {}\n", bench::name_of(options_.pattern), ranks_,
               path ? fmt::format("on {} node(s); fab: {}; ", path->nodes, path->name) : "", bench::mpi_library());
    fmt::print(
        "# fab: MPI_Ineighbor_xchg, MPI: MPI_Ineighbor_alltoall, cached calls, no calls to MPI_Test while computing\n");
    fmt::print(
        "# bytes per neighbour; us per call: mean over ranks, median of {} batches in turns; the computation {} "
        "{}\n",
        options_.plan.batches, options_.fixed_work ? "is a fixed amount of work for" : "takes",
        options_.same_computation ? "the longest of the pure times" : "the pure time");
    fmt::print("# overlap % = max(0, 100 - 100 (overall - compute) / pure): median (quartiles)\n");
    return bench::Table(
        {"bytes", "library", "overall us", "compute us", "start us", "wait us", "pure us", "         overlap %"});
  }

  // Deque: a contestant is not moved.
  std::deque<Contestant> contestants(Exchange& exchange) {
    std::deque<Contestant> all;
    if (fab_.path()) add(all, exchange, "fab", fab_.start(exchange), bench::Order::fab, bench::Placement::exact);
    add(all, exchange, "MPI", bench::mpi_start(exchange), bench::Order::mpi, bench::kCollectivePlacement);
    return all;
  }

  void add(std::deque<Contestant>& all, Exchange& exchange, const char* library, std::function<MPI_Request()> start,
           bench::Order order, bench::Placement placement) {
    exchange.fill();
    bench::meet();
    MPI_Request request = start();
    bench::wait(request);
    exchange.check(order, placement, library);
    all.emplace_back(library, std::move(start), computation_, options_);
  }

  std::vector<Result> time(std::size_t bytes) {
    Exchange exchange(neighbors_, bytes, options_.memory);
    auto all = contestants(exchange);
    double longest_us = 0;
    for (const Contestant& one : all) longest_us = std::max(longest_us, one.pure_us());
    for (Contestant& one : all) one.set_computation(options_.same_computation ? longest_us : one.pure_us());
    for (int batch = 0; batch < options_.plan.batches; ++batch) {
      for (Contestant& one : all) one.run_batch();
    }
    std::vector<Result> results;
    results.reserve(all.size());
    for (const Contestant& one : all) results.push_back({one.library(), one.times()});
    return results;
  }

  static std::vector<std::string> cells(std::size_t bytes, const Result& result) {
    const Times& times = result.times;
    const Spread overlap = bench::spread_of(overlap_percent(times));
    std::vector<std::string> cells = {std::to_string(bytes), result.library};
    for (const auto* values : {&times.overall, &times.compute, &times.start, &times.wait, &times.pure})
      cells.push_back(bench::number(median(*values)));
    cells.push_back(fmt::format("{:.1f} ({:.1f}-{:.1f})", overlap.median, overlap.lower, overlap.upper));
    return cells;
  }

  nlohmann::json row(std::size_t bytes, const Result& result) const {
    nlohmann::json row = bench::common_fields("fab_overlap", options_, ranks_, fab_.path());
    row["library"] = result.library;
    row["form"] = "nonblocking";
    row["timed"] = "cached call, overall with computation";
    row["same_computation"] = options_.same_computation;
    row["fixed_work"] = options_.fixed_work;
    row["neighbors"] = neighbors_.count();
    row["bytes"] = bytes;
    bench::add_times(row, "overlap_percent", overlap_percent(result.times));
    bench::add_times(row, "overall_us", result.times.overall);
    bench::add_times(row, "compute_us", result.times.compute);
    bench::add_times(row, "start_us", result.times.start);
    bench::add_times(row, "wait_us", result.times.wait);
    bench::add_times(row, "pure_us", result.times.pure);
    return row;
  }

  const Options& options_;
  int rank_;
  int ranks_;
  bench::Neighbors neighbors_;
  bench::FabForms fab_;
  bench::Computation computation_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.min_bytes = std::size_t{4} << 10;
  options.plan = {.batches = 15, .batch_ms = 10};
  CLI::App app(
      "How much of a non-blocking neighbour exchange hides behind a computation, by fab and by the MPI library.",
      "fab_overlap");
  bench::add_exchange_options(app, options);
  app.add_flag("--same-computation", options.same_computation,
               "Both libraries hide behind the same computation, as long as the slower exchange, so that their overall "
               "times can be compared; otherwise each behind one as long as its own exchange, as OSU does");
  app.add_flag("--fixed-work", options.fixed_work,
               "Compute a fixed amount of work, timed alone, instead of for a fixed time as OSU does: processor time "
               "that the exchange takes from the computation counts against the overlap");
  return bench::run_mpi_program(app, argc, argv, [&](int rank, int ranks) { Benchmark(options, rank, ranks).run(); });
}
