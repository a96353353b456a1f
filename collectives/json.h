// Reads JSON (RFC 8259), as far as rules files need it, without a library that every program would be linked with.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fab::collectives {

struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  std::string
      text{};  ///< of a string, without its quotes and escapes; of all others but arrays and objects, as written
  std::vector<JsonValue> items{};                            ///< of an array
  std::vector<std::pair<std::string, JsonValue>> members{};  ///< of an object

  /// As a message shows it: a long one shortened.
  [[nodiscard]] std::string shown() const;
};

/// Throws Error(configuration): `name`, the line, and what is wrong.
[[nodiscard]] JsonValue parse_json(std::string_view text, const std::string& name);

}  // namespace fab::collectives
