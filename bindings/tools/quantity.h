// Parses and prints sizes, counts and times in the form that people use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fab::tools {

/// "8", "64k", "1M", "2G", "1T", with or without "B", "iB": powers of 1024, in either case. Throws
/// Error(invalid_argument) that names `option` and what is valid.
[[nodiscard]] std::uint64_t parse_quantity(const std::string& option, const std::string& text, std::uint64_t least,
                                           std::uint64_t most);
/// parse_quantity of each text.
[[nodiscard]] std::vector<std::uint64_t> parse_quantities(const std::string& option,
                                                          const std::vector<std::string>& texts, std::uint64_t least,
                                                          std::uint64_t most);

/// "8 B", "64 KiB", "1.5 MiB": four digits at most.
[[nodiscard]] std::string bytes_text(double bytes);
/// "12", "8.98", "1019", "1.05M", "6.87e10": powers of 1000.
[[nodiscard]] std::string count_text(double count);
/// For columns in microseconds: "1.200", "12.40", "982.1", "2854317".
[[nodiscard]] std::string us_text(double us);

}  // namespace fab::tools
