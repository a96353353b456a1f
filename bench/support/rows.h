// Rows of results for machines: a list in JSON, a table in CSV. Only rank 0 should make them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/statistics.h"

namespace bench {

/// Fields in the order in which they were added.
using Row = nlohmann::ordered_json;

/// Adds NAME: the value of each batch, NAME_median and NAME_quartiles.
void add_times(Row& row, const std::string& name, const std::vector<double>& batches);
/// Adds NAME_p50, NAME_p90 and NAME_p99, if there are some.
void add_percentiles(Row& row, const std::string& name, const std::optional<Percentiles>& percentiles);

/// Writes a list of rows as JSON; does nothing without a file name. Throws std::runtime_error.
void write_rows(const std::string& file, const Row& rows);

/// The rows as CSV: a column for each field that a row has. Quartiles have two columns, other lists none: of the
/// batches CSV has the medians.
[[nodiscard]] std::string csv_text(const Row& rows);

/// The files that a user asks for. An empty name: none.
struct RowFiles {
  std::string json;
  std::string csv;
};

class Rows {
 public:
  /// `writes`: this is rank 0. A file that cannot be written is found here, before the work. Throws std::runtime_error.
  Rows(RowFiles files, bool writes);

  void add(Row row) { rows_.push_back(std::move(row)); }
  /// Throws std::runtime_error.
  void write() const;

 private:
  RowFiles files_;
  bool writes_;
  Row rows_ = Row::array();
};

}  // namespace bench
