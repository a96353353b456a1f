#include "core/bootstrap/carried_message.h"

#include <cstring>

namespace fab {
namespace {

using Length = std::uint32_t;

void append(std::string& bytes, std::string_view text) {
  const auto length = static_cast<Length>(text.size());
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.append(text);
}

std::optional<std::string> take(std::string_view& bytes) {
  Length length = 0;
  if (bytes.size() < sizeof length) return std::nullopt;
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes.remove_prefix(sizeof length);
  if (bytes.size() < length) return std::nullopt;
  std::string text(bytes.substr(0, length));
  bytes.remove_prefix(length);
  return text;
}

}  // namespace

std::string write_message(const CarriedMessage& message) {
  std::string bytes(1, static_cast<char>(message.kind));
  append(bytes, message.key);
  for (const auto& [key, value] : message.values) {
    append(bytes, key);
    append(bytes, value);
  }
  return bytes;
}

std::optional<CarriedMessage> read_message(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  CarriedMessage message{.kind = static_cast<CarriedMessage::Kind>(bytes.front())};
  if (message.kind != CarriedMessage::Kind::ask && message.kind != CarriedMessage::Kind::answer) return std::nullopt;
  bytes.remove_prefix(1);
  std::optional<std::string> key = take(bytes);
  if (!key) return std::nullopt;
  message.key = *std::move(key);
  while (!bytes.empty()) {
    key = take(bytes);
    std::optional<std::string> value = take(bytes);
    if (!key || !value) return std::nullopt;
    message.values.emplace(*std::move(key), *std::move(value));
  }
  return message;
}

}  // namespace fab
