#include "support/sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

#include "core/base/quoted.h"

namespace bench {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // a count of bytes must fit into an int

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char each : text) {
    if (each == separator)
      parts.emplace_back();
    else
      parts.back() += each;
  }
  return parts;
}

/// 0: it is none.
std::size_t quantity(std::string text) {
  try {
    if (!CLI::AsSizeValue(false)(text).empty()) return 0;
    const unsigned long long value = std::stoull(text);
    return value <= kMostBytes ? static_cast<std::size_t>(value) : 0;
  } catch (const std::exception&) {  // CLI11 throws some errors and returns others
    return 0;
  }
}

std::vector<std::size_t> quantities(const std::string& text, char separator) {
  std::vector<std::size_t> values;
  for (const std::string& part : parts_of(text, separator)) values.push_back(quantity(part));
  return values;
}

bool has_none(const std::vector<std::size_t>& values) { return std::ranges::find(values, 0U) == values.end(); }

}  // namespace

std::vector<std::size_t> parse_sizes(const std::string& text) {
  const bool is_range = text.find(':') != std::string::npos;
  std::vector<std::size_t> values = quantities(text, is_range ? ':' : ',');
  const auto refuse = [&](const char* why) {
    throw std::runtime_error(
        fmt::format("{}: {}; valid are one size, a list (8,64k,1M) or a range FIRST:LAST[:FACTOR] (8:1M:4), of sizes "
                    "from 1 to {}",
                    fab::in_quotes(text), why, kMostBytes));
  };
  if (!has_none(values)) refuse("a part is no size");
  if (!is_range) return values;
  if (values.size() > 3) refuse("more than three parts");
  const std::size_t factor = values.size() == 3 ? values[2] : 2;
  if (factor < 2) refuse("the factor is below 2");
  if (values[1] < values[0]) refuse("the last size is below the first");
  std::vector<std::size_t> range;
  for (std::size_t bytes = values[0]; bytes <= values[1]; bytes *= factor) {
    range.push_back(bytes);
    if (bytes > values[1] / factor) break;
  }
  return range;
}

void add_sizes(CLI::App& app, std::string& sizes, const char* help) {
  const CLI::Validator valid(
      [](std::string& text) {
        try {
          static_cast<void>(parse_sizes(text));
          return std::string();
        } catch (const std::exception& error) {
          return std::string(error.what());
        }
      },
      "");
  app.add_option("-m,--sizes", sizes, help)->type_name("SIZES")->check(valid)->capture_default_str();
}

}  // namespace bench
