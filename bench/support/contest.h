// Contestants of one size against each other: checked, then timed.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/contestant.h"
#include "support/exchange_options.h"

namespace bench {

/// One contestant's part of one size.
struct Result {
  std::string library;
  Form form = Form::blocking;
  std::string call;
  bool is_in_place = true;  ///< every block was where MPI wants it
  Times times{};
};

/// Makes one call, looks at the data, and returns whether every block was in its own place.
using Check = std::function<bool(const Contestant&)>;

/// Every contestant moves checked data first, untimed, unless the options say otherwise. Collective.
[[nodiscard]] std::vector<Result> contest(const std::vector<Contestant>& all, const RunOptions& options,
                                          const Check& check);
/// Of exchanges that are made at once, whose buffers are checked.
[[nodiscard]] std::vector<Result> contest(std::deque<Exchange>& exchanges, const std::vector<Contestant>& all,
                                          const RunOptions& options);

/// Null if there is none.
[[nodiscard]] const Result* find(const std::vector<Result>& results, const std::string& library, Form form);
[[nodiscard]] double median_us(const Result& result);
/// The ratio of the other's time to fab's, batch by batch: above 1 fab is faster.
[[nodiscard]] Spread lead(const Result& fab, const Result& other);

/// Titles of the columns of a library, and its cells: the time of a call as a thread sees it; with several threads also
/// calls per second of all threads of a rank, in thousands; percentiles if the plan asks for them. No result: "-".
[[nodiscard]] std::vector<std::string> time_titles(const RunOptions& options, const std::string& library);
[[nodiscard]] std::vector<std::string> time_cells(const RunOptions& options, const Result* result);
/// The line above the table that says so; none of one thread.
void print_threads_line(const RunOptions& options);
/// Adds the numbers of threads and engines, and the calls per second of all threads of a rank.
void add_calls_of_threads(Row& row, const RunOptions& options, const Result& result);

/// Titles of the percentile columns of a library or of a time, and its cells; none unless the plan asks for them.
[[nodiscard]] std::vector<std::string> percentile_titles(const BatchPlan& plan, const std::string& whose);
[[nodiscard]] std::vector<std::string> percentile_cells(const BatchPlan& plan,
                                                        const std::optional<Percentiles>& single_us);
[[nodiscard]] std::vector<std::string> percentile_cells(const BatchPlan& plan, const Result* result);

/// Adds library, form, what was timed and the times.
void add_result(Row& row, const Result& result);

}  // namespace bench
