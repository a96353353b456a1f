// The sizes that are measured, as users write them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// "8:1M": from the first size to the last, each twice the one before; "8:1M:4": four times; "8,64k,1M": these. Units
/// are powers of 1024. Throws std::runtime_error, which says what is valid.
[[nodiscard]] std::vector<std::size_t> parse_sizes(const std::string& text);

/// -m/--sizes, with the value in `sizes` as the default.
void add_sizes(CLI::App& app, std::string& sizes, const char* help);

}  // namespace bench
