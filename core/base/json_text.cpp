#include "core/base/json_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/quoted.h"

namespace fab {

namespace {

using nlohmann::json;

/// The fields of the objects that are open, the innermost last: the parser itself would keep the last of two.
class Fields {
 public:
  /// Whether the field that the parser has just read is in its object already.
  bool repeats(json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event != json::parse_event_t::key) return false;
    std::vector<std::string>& seen = open_.back();
    const std::string& field = parsed.get_ref<const std::string&>();
    if (std::ranges::find(seen, field) != seen.end()) return true;
    seen.push_back(field);
    return false;
  }

 private:
  std::vector<std::vector<std::string>> open_;
};

/// Without the library's number of the exception, and short: it quotes what it has read last.
std::string fault_of(const json::parse_error& error) {
  constexpr std::size_t kLongest = 200;
  std::string_view words = error.what();
  words.remove_prefix(std::min(words.find("] ") + 2, words.size()));
  return words.size() <= kLongest ? escaped(words) : escaped(words.substr(0, kLongest)) + "...";
}

}  // namespace

json parse_json(std::string_view text, const std::string& name, Errc code) {
  Fields fields;
  const auto look = [&](int, json::parse_event_t event, json& parsed) {
    if (fields.repeats(event, parsed))
      throw Error(code, fmt::format("{} has the field {} twice in one object", name, shown(parsed)));
    return true;
  };
  try {
    return json::parse(text, look);
  } catch (const json::parse_error& error) {
    throw Error(code, fmt::format("{} is no JSON: {}", name, fault_of(error)));
  }
}

std::string shown(const json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return value.is_string() ? in_quotes(value.get_ref<const std::string&>()) : value.dump();
}

}  // namespace fab
