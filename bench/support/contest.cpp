#include "support/contest.h"

#include <algorithm>

#include "support/table.h"

namespace bench {

std::vector<Result> contest(const std::vector<Contestant>& all, const RunOptions& options, const Check& check) {
  std::vector<Result> results;
  std::vector<Calls> calls;
  for (const Contestant& one : all) {
    const bool is_in_place = options.unchecked || check(one);
    results.push_back({one.library, one.form, one.call, is_in_place || one.placement == Placement::whole, {}});
    calls.push_back(one.calls);
  }
  auto times = time_in_turns(options.plan, calls);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].times = std::move(times[i]);
  return results;
}

std::vector<Result> contest(Exchange& exchange, const std::vector<Contestant>& all, const RunOptions& options) {
  return contest(all, options, [&exchange](const Contestant& one) {
    exchange.fill();
    meet();
    one.calls(1);
    const bool is_in_place = exchange.check(one.order, one.placement, one.call);
    meet();
    return is_in_place;
  });
}

const Result* find(const std::vector<Result>& results, const std::string& library, Form form) {
  const auto found = std::ranges::find_if(
      results, [&](const Result& result) { return result.library == library && result.form == form; });
  return found == results.end() ? nullptr : &*found;
}

double median_us(const Result& result) { return spread_of(result.times.us).median; }

Spread lead(const Result& fab, const Result& other) { return spread_of(ratios(other.times.us, fab.times.us)); }

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
  add_times(row, "us", result.times.us);
  add_percentiles(row, "us", result.times.single_us);
}

}  // namespace bench
