// The messages by which ranks ask each other for values of the job, and answer, if no launcher serves them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace fab {

struct CarriedMessage {
  enum class Kind : std::uint8_t { ask = 1, answer = 2 };

  Kind kind = Kind::ask;
  std::string key{};  ///< what is asked for, or answered
  /// Of the sender. An ask has all that it has published; an answer the one value, or none where it never comes.
  std::map<std::string, std::string> values{};
};

[[nodiscard]] std::string write_message(const CarriedMessage& message);
/// Nothing where the bytes are no such message.
[[nodiscard]] std::optional<CarriedMessage> read_message(std::string_view bytes);

}  // namespace fab
