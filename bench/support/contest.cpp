#include "support/contest.h"

#include <fmt/core.h>

#include <algorithm>

#include "support/table.h"

namespace bench {

namespace {

/// Of all threads of a rank together.
double calls_per_s(const RunOptions& options, const Result& result) {
  return 1e6 * options.threads.count / median_us(result);
}

}  // namespace

std::vector<Result> contest(const std::vector<Contestant>& all, const RunOptions& options, const Check& check) {
  std::vector<Result> results;
  std::vector<Calls> calls;
  for (const Contestant& one : all) {
    const bool is_in_place = options.unchecked || check(one);
    results.push_back({one.library, one.form, one.call, is_in_place || one.placement == Placement::whole, {}});
    calls.push_back(one.before_each ? repeat([one] {
      one.before_each();
      one.calls(1);
    })
                                    : one.calls);
  }
  auto times = time_in_turns(options.plan, calls);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].times = std::move(times[i]);
  return results;
}

std::vector<Result> contest(std::deque<Exchange>& exchanges, const std::vector<Contestant>& all,
                            const RunOptions& options) {
  return contest(all, options, [&exchanges](const Contestant& one) {
    for (Exchange& exchange : exchanges) exchange.fill();
    meet();
    one.calls(1);
    bool all_in_place = true;
    for (Exchange& exchange : exchanges)
      if (!exchange.check(one.order, one.placement, one.call)) all_in_place = false;
    meet();
    return all_in_place;
  });
}

const Result* find(const std::vector<Result>& results, const std::string& library, Form form) {
  const auto found = std::ranges::find_if(
      results, [&](const Result& result) { return result.library == library && result.form == form; });
  return found == results.end() ? nullptr : &*found;
}

double median_us(const Result& result) { return spread_of(result.times.us).median; }

Spread lead(const Result& fab, const Result& other) { return spread_of(ratios(other.times.us, fab.times.us)); }

std::vector<std::string> time_titles(const RunOptions& options, const std::string& library) {
  std::vector<std::string> titles = {library + " us"};
  if (options.threads.count > 1) titles.push_back(library + " k/s");
  for (const std::string& title : percentile_titles(options.plan, library)) titles.push_back(title);
  return titles;
}

std::vector<std::string> time_cells(const RunOptions& options, const Result* result) {
  std::vector<std::string> cells = {result == nullptr ? "-" : number(median_us(*result))};
  if (options.threads.count > 1) cells.push_back(result == nullptr ? "-" : number(calls_per_s(options, *result) / 1e3));
  for (const std::string& cell : percentile_cells(options.plan, result)) cells.push_back(cell);
  return cells;
}

void print_threads_line(const RunOptions& options) {
  if (options.threads.count > 1)
    fmt::print(
        "# us: of a call as a thread sees it; k/s: thousands of calls that the {} threads of a rank make in a s\n",
        options.threads.count);
}

void add_calls_of_threads(Row& row, const RunOptions& options, const Result& result) {
  add_threads(row, options.threads);
  row["calls_per_s"] = calls_per_s(options, result);
}

std::vector<std::string> percentile_titles(const BatchPlan& plan, const std::string& whose) {
  if (!plan.percentiles) return {};
  return {whose + " P50", "P90", "P99 us"};
}

std::vector<std::string> percentile_cells(const BatchPlan& plan, const std::optional<Percentiles>& single_us) {
  if (!plan.percentiles) return {};
  if (!single_us) return {"-", "-", "-"};
  return {number(single_us->p50), number(single_us->p90), number(single_us->p99)};
}

std::vector<std::string> percentile_cells(const BatchPlan& plan, const Result* result) {
  return percentile_cells(plan, result == nullptr ? std::nullopt : result->times.single_us);
}

void add_result(Row& row, const Result& result) {
  row["library"] = result.library;
  row["form"] = name_of(result.form);
  row["timed"] = result.call;
  row["calls_per_batch"] = result.times.calls_per_batch;
  add_times(row, "us", result.times.us);
  add_percentiles(row, "us", result.times.single_us);
}

}  // namespace bench
