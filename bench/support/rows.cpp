#include "support/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "core/base/quoted.h"

namespace bench {
namespace {

constexpr std::string_view kQuartiles = "_quartiles";

void write_file(const char* option, const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) throw std::runtime_error(fmt::format("{} {}: cannot be written", option, fab::in_quotes(file)));
}

std::string csv_cell(const Row& value) {
  if (!value.is_string()) return value.dump();
  const auto text = value.get<std::string>();
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char each : text) quoted += each == '"' ? "\"\"" : std::string(1, each);
  return quoted + '"';
}

/// The columns of one row with their cells.
std::vector<std::pair<std::string, std::string>> csv_cells(const Row& row) {
  std::vector<std::pair<std::string, std::string>> cells;
  for (const auto& [name, value] : row.items()) {
    if (!value.is_array()) {
      cells.emplace_back(name, csv_cell(value));
    } else if (name.ends_with(kQuartiles)) {
      const std::string what = name.substr(0, name.size() - kQuartiles.size());
      cells.emplace_back(what + "_lower_quartile", csv_cell(value[0]));
      cells.emplace_back(what + "_upper_quartile", csv_cell(value[1]));
    }
  }
  return cells;
}

std::string joined(const std::vector<std::string>& cells) { return fmt::format("{}\n", fmt::join(cells, ",")); }

}  // namespace

void add_times(Row& row, const std::string& name, const std::vector<double>& batches) {
  const Spread spread = spread_of(batches);
  row[name] = batches;
  row[name + "_median"] = spread.median;
  row[name + "_quartiles"] = {spread.lower, spread.upper};
}

void add_percentiles(Row& row, const std::string& name, const std::optional<Percentiles>& percentiles) {
  if (!percentiles) return;
  row[name + "_p50"] = percentiles->p50;
  row[name + "_p90"] = percentiles->p90;
  row[name + "_p99"] = percentiles->p99;
}

void write_rows(const std::string& file, const Row& rows) {
  if (!file.empty()) write_file("--json", file, rows.dump(2) + '\n');
}

std::string csv_text(const Row& rows) {
  std::vector<std::string> columns;
  for (const Row& row : rows) {
    for (const auto& [name, cell] : csv_cells(row))
      if (std::ranges::find(columns, name) == columns.end()) columns.push_back(name);
  }
  std::string text = joined(columns);
  for (const Row& row : rows) {
    std::vector<std::string> line(columns.size());
    for (const auto& [name, cell] : csv_cells(row))
      line[static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin())] = cell;
    text += joined(line);
  }
  return text;
}

Rows::Rows(RowFiles files, bool writes) : files_(std::move(files)), writes_(writes) { write(); }

void Rows::write() const {
  if (!writes_) return;
  write_rows(files_.json, rows_);
  if (!files_.csv.empty()) write_file("--csv", files_.csv, csv_text(rows_));
}

}  // namespace bench
