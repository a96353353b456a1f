#include "bindings/tools/quantity.h"

#include <fmt/core.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::tools {

namespace {

constexpr std::string_view kUnits = "kmgt";  // 1024 to the 1st, 2nd...

/// 0: none that is known.
std::uint64_t unit_of(std::string_view suffix) {
  if (suffix.empty()) return 1;
  const auto power = kUnits.find(static_cast<char>(std::tolower(static_cast<unsigned char>(suffix.front()))));
  const std::string_view rest = suffix.substr(power == std::string_view::npos ? 0 : 1);
  if (rest != "" && rest != "B" && (rest != "iB" || power == std::string_view::npos)) return 0;
  return power == std::string_view::npos ? 1 : std::uint64_t{1} << (10 * (power + 1));
}

constexpr std::size_t kMostQuoted = 40;

/// Four digits.
std::string digits(double value) {
  if (value == std::floor(value) && value < 10'000) return fmt::format("{:.0f}", value);
  return us_text(value);
}

}  // namespace

std::uint64_t parse_quantity(const std::string& option, const std::string& text, std::uint64_t least,
                             std::uint64_t most) {
  std::uint64_t number = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  const std::uint64_t unit = unit_of({end, last});
  const bool valid = error == std::errc{} && end != text.data() && unit > 0 && number <= most / unit;
  if (!valid || number * unit < least)
    throw Error(Errc::invalid_argument,
                fmt::format("{} {}: a number from {} to {} is valid, with or without a suffix k, M, G or T (powers of "
                            "1024)",
                            option, in_quotes(text, kMostQuoted), least, most));
  return number * unit;
}

std::vector<std::uint64_t> parse_quantities(const std::string& option, const std::vector<std::string>& texts,
                                            std::uint64_t least, std::uint64_t most) {
  std::vector<std::uint64_t> values;
  for (const std::string& text : texts) values.push_back(parse_quantity(option, text, least, most));
  return values;
}

std::string bytes_text(double bytes) {
  constexpr std::array kNames{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kNames.size(); ++unit) bytes /= 1024;
  return fmt::format("{} {}", digits(bytes), kNames.at(unit));
}

std::string count_text(double count) {
  if (count < 9999.5) return digits(count);
  if (count >= 1e9) return fmt::format("{:.3g}", count);
  return count >= 999'500 ? digits(count / 1e6) + "M" : digits(count / 1e3) + "k";
}

std::string us_text(double us) {
  return fmt::format("{:.{}f}", us, us < 9.9995 ? 3 : us < 99.995 ? 2 : us < 999.95 ? 1 : 0);
}

}  // namespace fab::tools
