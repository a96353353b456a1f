#include "collectives/json.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

constexpr int kDeepest = 16;  ///< arrays and objects within each other

class JsonReader {
 public:
  JsonReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  JsonValue document() {
    JsonValue value = read(0);
    skip_blanks();
    if (at_ != text_.size()) refuse("something stands behind the end");
    return value;
  }

 private:
  [[noreturn]] void refuse(std::string_view fault) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw Error(Errc::configuration, fmt::format("{}, line {}: {}", name_, line, fault));
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  [[nodiscard]] bool take(char c) {
    skip_blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void demand(char c) {
    if (!take(c)) refuse(fmt::format("'{}' is missing", c));
  }

  JsonValue read(int depth) {
    if (depth > kDeepest) refuse(fmt::format("more than {} arrays and objects within each other", kDeepest));
    skip_blanks();
    if (peek() == '{') return object(depth);
    if (peek() == '[') return array(depth);
    if (peek() == '"') return {.kind = JsonValue::Kind::string, .text = string()};
    return word();
  }
  JsonValue array(int depth) {
    JsonValue value{.kind = JsonValue::Kind::array};
    demand('[');
    if (take(']')) return value;
    do value.items.push_back(read(depth + 1));
    while (take(','));
    demand(']');
    return value;
  }
  JsonValue object(int depth) {
    JsonValue value{.kind = JsonValue::Kind::object};
    demand('{');
    if (take('}')) return value;
    do {
      skip_blanks();
      if (peek() != '"') refuse("the name of a field is missing");
      std::string field = string();
      demand(':');
      value.members.emplace_back(std::move(field), read(depth + 1));
    } while (take(','));
    demand('}');
    return value;
  }
  std::string string() {
    std::string value;
    for (++at_; peek() != '"'; ++at_) {
      if (at_ >= text_.size() || static_cast<unsigned char>(peek()) < ' ') refuse("the end of a string is missing");
      if (peek() != '\\') {
        value += peek();
        continue;
      }
      ++at_;
      constexpr std::string_view kEscapes = "\"\\/";
      if (kEscapes.find(peek()) == std::string_view::npos || peek() == '\0')
        refuse("an escape other than \\\", \\\\ and \\/");
      value += peek();
    }
    ++at_;
    return value;
  }
  /// true, false, null or a number, which its reader looks at more closely.
  JsonValue word() {
    const std::size_t end =
        std::min(text_.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE", at_), text_.size());
    const std::string word(text_.substr(at_, end - at_));
    JsonValue value{.kind = JsonValue::Kind::number, .text = word};
    if (word == "null") value.kind = JsonValue::Kind::null;
    if (word == "true" || word == "false") value.kind = JsonValue::Kind::boolean;
    const bool number = !word.empty() && (word[0] == '-' || (word[0] >= '0' && word[0] <= '9'));
    if (value.kind == JsonValue::Kind::number && !number) refuse("a value is missing");
    at_ = end;
    return value;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

std::string JsonValue::shown() const {
  switch (kind) {
    case Kind::array:
      return "an array";
    case Kind::object:
      return "an object";
    case Kind::string:
      return in_quotes(text);
    case Kind::null:
    case Kind::boolean:
    case Kind::number:
      break;
  }
  constexpr std::size_t kLongest = 40;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

JsonValue parse_json(std::string_view text, const std::string& name) { return JsonReader(text, name).document(); }

}  // namespace fab::collectives
