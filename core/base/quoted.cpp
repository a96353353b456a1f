#include "core/base/quoted.h"

#include <fmt/core.h>

#include <algorithm>

namespace fab {
namespace {

constexpr unsigned kDelete = 0x7f;
constexpr unsigned kFirstPrintableAfterAscii = 0xa0;

/// The bytes of the character that begins there; 0: it is no UTF-8, or controls something.
std::size_t bytes_of_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= ' ' && first != kDelete ? 1 : 0;
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (bytes == 0 || first > 0xf4 || bytes > text.size()) return 0;
  unsigned code = first & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  // Line and paragraph separators, and what turns the direction of writing, are commands as well.
  const bool commands = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return code >= kFirstPrintableAfterAscii && !commands ? bytes : 0;
}

std::string escaped_byte(char byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = bytes_of_character(text);
    if (bytes == 0)
      result += escaped_byte(text.front());
    else
      result += text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

// A character that the end cuts in two is left out.
std::string in_quotes(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return fmt::format("\"{}\"", escaped(text));
  std::size_t bytes = 0;
  while (bytes < most_bytes) {
    const std::size_t next = std::max<std::size_t>(bytes_of_character(text.substr(bytes)), 1);
    if (bytes + next > most_bytes) break;
    bytes += next;
  }
  return fmt::format("\"{}...\" ({} bytes)", escaped(text.substr(0, bytes)), text.size());
}

}  // namespace fab
