// Quotes text of foreign origin for fab's messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fab {

/// Without anything that a terminal or a log could take for a command: control characters and bytes that are no UTF-8
/// become \n, \t or \x1b.
[[nodiscard]] std::string escaped(std::string_view text);

/// The escaped text between quotes. Of a long text the beginning, and how long it is: "aaa..." (123456 bytes).
[[nodiscard]] std::string in_quotes(std::string_view text, std::size_t most_bytes = 80);

}  // namespace fab
