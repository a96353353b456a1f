// Usage: fab_check_rows FILE FIELD...   The JSON file is a list of rows, at least one; each has every field, and what
// is a number is finite and not negative.
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

namespace {

void check_field(const nlohmann::json& row, const char* field) {
  const nlohmann::json& value = row.at(field);
  if (value.is_string() && !value.get<std::string>().empty()) return;
  if (value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0) return;
  throw std::runtime_error(fmt::format("{}: {} is neither a text nor a sensible number", field, value.dump()));
}

void check_rows(const char* file, std::span<char*> fields) {
  std::ifstream in(file);
  const nlohmann::json rows = nlohmann::json::parse(in);
  if (!rows.is_array() || rows.empty()) throw std::runtime_error("no list of rows");
  for (const nlohmann::json& row : rows)
    for (const char* field : fields) check_field(row, field);
  fmt::print("{}: {} rows\n", file, rows.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: fab_check_rows FILE FIELD...\n");
    return EXIT_FAILURE;
  }
  try {
    check_rows(argv[1], std::span(argv, static_cast<std::size_t>(argc)).subspan(2));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[1], error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
