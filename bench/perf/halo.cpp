// fab_perf halo: the halo of a block of doubles, two- or three-dimensional, filled by fab::HaloExchange, by the MPI
// library's MPI_Neighbor_alltoallw, and by messages that users write by hand with derived types; in turns inside one
// job, in the same memory.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>

#include "perf/command.h"
#include "perf/measurement.h"
#include "support/contest.h"
#include "support/exchange_options.h"
#include "support/exchange_team.h"
#include "support/explained_way.h"
#include "support/fab_forms.h"
#include "support/mpi_forms.h"
#include "support/mpi_program.h"
#include "support/sizes.h"

namespace perf {
namespace {

using bench::Contestant;
using bench::Exchange;
using bench::Form;
using bench::Result;

struct HaloOptions : bench::ExchangeOptions {
  bool explain = false;
};

class Halo final : public Measurement<HaloOptions> {
 public:
  Halo(const HaloOptions& options, const Job& job)
      : Measurement("halo", options, job),
        team_(neighbors_, options.pattern, options.threads.count),
        fab_(neighbors_, options.threads) {}

 private:
  /// Of a face.
  [[nodiscard]] std::size_t bytes_of(std::size_t edge) const {
    return bench::Boxes::face_bytes(static_cast<int>(edge), neighbors_.dims().size() == 2);
  }

  std::vector<Result> time(std::size_t edge) override {
    std::deque<Exchange> exchanges = team_.exchanges(bytes_of(edge), options_.memory);
    const std::vector<Contestant> all =
        team_.contestants(exchanges, [this](Exchange& exchange) { return contestants(exchange); });
    std::vector<Result> results = bench::contest(exchanges, all, options_);
    if (options_.explain) observed_ = fab_.ways_taken(all.front());
    return results;
  }

  [[nodiscard]] bench::ExplainedWay way(std::size_t edge) const {
    return {.predicted = fab_.ways(bytes_of(edge), options_.memory, Form::persistent, bench::Rewrite::none),
            .observed = observed_};
  }

  std::vector<Contestant> contestants(Exchange& exchange) {
    std::vector<Contestant> all = {fab_.halo(exchange)};
    if (options_.against == bench::Against::mpi)
      for (Contestant& contestant : bench::mpi_forms(exchange)) all.push_back(std::move(contestant));
    return all;
  }

  static std::string title_of(const Result& result) {
    if (result.library == "fab") return "fab";
    return result.library + (result.form == Form::blocking ? "" : result.form == Form::nonblocking ? " I" : " P");
  }

  void show(std::size_t edge, const std::vector<Result>& results) override {
    if (!table_) start_table(results);
    std::vector<std::string> cells = {std::to_string(edge), std::to_string(bytes_of(edge))};
    for (const Result& result : results)
      for (const std::string& cell : bench::time_cells(options_, &result)) cells.push_back(cell);
    if (results.size() > 1) {
      const auto fastest = std::ranges::min_element(results.begin() + 1, results.end(), {}, bench::median_us);
      cells.push_back(bench::ratio_text(bench::lead(results.front(), *fastest)));
    }
    if (options_.explain)
      for (const std::string& cell : bench::way_cells(way(edge))) cells.push_back(cell);
    table_->print(cells);
    for (const Result& result : results) rows_.add(row(edge, result));
  }

  void start_table(const std::vector<Result>& results) {
    fmt::print("\n# {} halo, a grid of {}: {}; MPI: {}; {} memory\n", program_name(), fmt::join(neighbors_.dims(), "x"),
               bench::job_text(options_, job_.ranks, fab_.path()), bench::mpi_library(),
               bench::name_of(options_.memory));
    for (const Result& result : results) fmt::print("# {}: {}\n", title_of(result), result.call);
    fmt::print(
        "# a halo one double wide around a block with edges of so many; bytes of a face; us per exchange of all faces: "
        "mean over ranks, median of {} batches in turns\n",
        options_.plan.batches);
    bench::print_threads_line(options_);
    if (results.size() > 1)
      fmt::print("# MPI/fab: the fastest of MPI's; ratios of neighbouring batches: median (quartiles)\n");
    std::vector<std::string> titles = {"edge", "bytes"};
    for (const Result& result : results)
      for (const std::string& title : bench::time_titles(options_, title_of(result))) titles.push_back(title);
    if (results.size() > 1) titles.emplace_back("             MPI/fab");
    if (options_.explain)
      for (const std::string& title : bench::way_titles()) titles.push_back(title);
    table_.emplace(titles);
  }

  [[nodiscard]] bench::Row row(std::size_t edge, const Result& result) const {
    bench::Row row = bench::common_fields(command_, options_, job_.ranks, fab_.path());
    row["grid"] = fmt::format("{}", fmt::join(neighbors_.dims(), "x"));
    row["periodic"] = neighbors_.periodic();
    row["edge"] = edge;
    row["bytes"] = bytes_of(edge);
    row["in_place"] = result.is_in_place;
    if (options_.explain && result.library == "fab") bench::add_way(row, way(edge));
    bench::add_calls_of_threads(row, options_, result);
    bench::add_result(row, result);
    return row;
  }

  bench::ExchangeTeam team_;
  bench::FabForms fab_;
  std::set<std::string> observed_;  // of the size that was timed last
};

}  // namespace

Action add_halo(CLI::App& app) {
  const auto options = std::make_shared<HaloOptions>();
  options->pattern.pattern = bench::Pattern::faces;
  options->sizes = "8:128";
  options->memory = bench::MemoryKind::fab;  // as HaloExchange has it
  app.add_option("--dims", options->pattern.dimensions, "Dimensions of the block, unless --grid tells")
      ->check(bench::in_range(2, 3))
      ->capture_default_str();
  bench::add_pattern_options(app, options->pattern, {bench::Pattern::faces});
  bench::add_run_options(app, *options, "Cells along an edge of the block: a range FIRST:LAST[:FACTOR] or a list");
  bench::add_contest_options(app, *options);
  bench::add_thread_options(app, options->threads);
  app.add_flag(
      "--explain", options->explain,
      "Tell which way the faces of each size should take, and which they took; rows where these differ are marked");
  return {.run = [options](const Job& job) { Halo(*options, job).run(); },
          .has_threads = [options] { return options->threads.count > 1; }};
}

}  // namespace perf
