// Rules files.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "collectives/choice/registry.h"
#include "collectives/choice/rules.h"
#include "core/base/json_text.h"
#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

using nlohmann::json;

constexpr std::uint64_t kVersion = 1;

[[noreturn]] void refuse_rules(const std::string& place, std::string_view fault) {
  throw Error(Errc::configuration, fmt::format("{}: {}", place, fault));
}

/// Of one object: each field has a name that its reader knows.
void check_fields(const json& object, const std::string& place, std::span<const std::string_view> known) {
  if (!object.is_object()) refuse_rules(place, fmt::format("{} is no object", shown(object)));
  for (const auto& [field, value] : object.items())
    if (std::ranges::find(known, field) == known.end())
      refuse_rules(place, fmt::format("there is no field {}; known are {}", in_quotes(field), fmt::join(known, ", ")));
}

const json* find_field(const json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() ? nullptr : &*found;
}

std::uint64_t whole_number(const json& value, const std::string& place, std::string_view field, std::uint64_t least,
                           std::uint64_t most) {
  const std::uint64_t number = value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
  if (!value.is_number_unsigned() || number < least || number > most)
    refuse_rules(place,
                 fmt::format("{} is {}; a whole number from {} to {} is valid", field, shown(value), least, most));
  return number;
}

int count_in(const json& value, const std::string& place, std::string_view field) {
  return static_cast<int>(whole_number(value, place, field, 1, static_cast<std::uint64_t>(kAnyRanks)));
}

/// One of some names.
template <class Value, class NameOf>
Value named_value(const json& value, const std::string& place, std::string_view field, std::span<const Value> all,
                  NameOf&& name_of_value) {
  std::string names;
  for (const Value& each : all) {
    if (value == name_of_value(each)) return each;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of_value(each));
  }
  refuse_rules(place, fmt::format("{} is {}; valid are {}", field, shown(value), names));
}

Collective collective_in(const json& object, const std::string& place) {
  const json* value = find_field(object, "collective");
  if (value == nullptr) refuse_rules(place, "the field collective is missing");
  std::vector<Collective> all;
  for (std::size_t i = 0; i < kCollectives; ++i) all.push_back(static_cast<Collective>(i));
  return named_value<Collective>(*value, place, "collective", all, [](Collective each) { return to_string(each); });
}

std::string algorithm_in(const json& object, const std::string& place, Collective collective) {
  const json* value = find_field(object, "algorithm");
  if (value == nullptr) refuse_rules(place, "the field algorithm is missing");
  if (!value->is_string() || find_algorithm(collective, value->get<std::string>()) == nullptr)
    refuse_rules(place, fmt::format("algorithm is {}; those of {} are {}", shown(*value), to_string(collective),
                                    algorithm_names(collective)));
  return value->get<std::string>();
}

Rule rule_in(const json& object, const std::string& place) {
  constexpr std::string_view kFields[] = {"collective",     "most_bytes", "most_ranks",
                                          "least_per_node", "where",      "algorithm"};
  constexpr Where kWheres[] = {Where::anywhere,  Where::node,    Where::nodes,
                               Where::scattered, Where::crowded, Where::tcp};
  check_fields(object, place, kFields);
  Rule rule;
  rule.collective = collective_in(object, place);
  if (const json* value = find_field(object, "most_bytes"))
    rule.most_bytes = whole_number(*value, place, "most_bytes", 0, kAnyBytes);
  if (const json* value = find_field(object, "most_ranks")) rule.most_ranks = count_in(*value, place, "most_ranks");
  if (const json* value = find_field(object, "least_per_node"))
    rule.least_per_node = count_in(*value, place, "least_per_node");
  if (const json* value = find_field(object, "where"))
    rule.where = named_value<Where>(*value, place, "where", kWheres, name_of);
  rule.algorithm = algorithm_in(object, place, rule.collective);
  return rule;
}

LongestCopied longest_copied_in(const json& object, const std::string& place, const char* memory) {
  constexpr std::string_view kFields[] = {"unknown", "changing", "constant"};
  const json* const value = find_field(object, memory);
  if (value == nullptr) refuse_rules(place, fmt::format("the field {} is missing", memory));
  const std::string place_of_fields = fmt::format("{}: {}", place, memory);
  check_fields(*value, place_of_fields, kFields);
  const auto bytes = [&](const char* field, std::uint64_t most) {
    const json* const found = find_field(*value, field);
    if (found == nullptr) refuse_rules(place_of_fields, fmt::format("the field {} is missing", field));
    return whole_number(*found, place_of_fields, field, kLeastLongestCopied, most);
  };
  return {.unknown = bytes("unknown", kMostCopiedWhole),
          .changing = bytes("changing", kMostLongestCopied),
          .constant = bytes("constant", kMostCopiedWhole)};
}

ProcessorLengths lengths_in(const json& object, const std::string& place) {
  constexpr std::string_view kFields[] = {"processor", "program", "fab"};
  check_fields(object, place, kFields);
  const json* const processor = find_field(object, "processor");
  if (processor == nullptr || !processor->is_string())
    refuse_rules(place, "the field processor is missing, or no text; e.g. \"GenuineIntel, family 6, model 207\"");
  return {.processor = processor->get<std::string>(),
          .lengths = {.program = longest_copied_in(object, place, "program"),
                      .fab = longest_copied_in(object, place, "fab")}};
}

std::vector<ProcessorLengths> all_lengths_in(const json& file, const std::string& name) {
  std::vector<ProcessorLengths> all;
  const json* const rows = find_field(file, "lengths");
  if (rows == nullptr) return all;
  if (!rows->is_array()) refuse_rules(name, fmt::format("lengths is {}; an array is valid", shown(*rows)));
  for (const json& row : *rows) {
    const std::string place = fmt::format("{}: lengths {}", name, all.size() + 1);
    all.push_back(lengths_in(row, place));
    if (std::ranges::count(all, all.back().processor, &ProcessorLengths::processor) > 1)
      refuse_rules(place, fmt::format("the processor {} stands here twice", in_quotes(all.back().processor)));
  }
  return all;
}

std::string line_of(const Rule& rule) {
  std::string line = fmt::format("    {{\"collective\": \"{}\"", to_string(rule.collective));
  if (rule.most_bytes != kAnyBytes) line += fmt::format(", \"most_bytes\": {}", rule.most_bytes);
  if (rule.most_ranks != kAnyRanks) line += fmt::format(", \"most_ranks\": {}", rule.most_ranks);
  if (rule.least_per_node > 1) line += fmt::format(", \"least_per_node\": {}", rule.least_per_node);
  if (rule.where != Where::anywhere) line += fmt::format(", \"where\": \"{}\"", name_of(rule.where));
  return line + fmt::format(", \"algorithm\": \"{}\"}}", rule.algorithm);
}

/// What a JSON string cannot hold as it is becomes a question mark; it is for people only.
std::string json_text(std::string_view text) {
  std::string safe(text);
  std::ranges::replace_if(
      safe, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; }, '?');
  return safe;
}

std::string text_of(const LongestCopied& longest) {
  return fmt::format("{{\"unknown\": {}, \"changing\": {}, \"constant\": {}}}", longest.unknown, longest.changing,
                     longest.constant);
}

std::string line_of(const ProcessorLengths& row) {
  return fmt::format("    {{\"processor\": \"{}\", \"program\": {}, \"fab\": {}}}", json_text(row.processor),
                     text_of(row.lengths.program), text_of(row.lengths.fab));
}

/// An array of lines.
template <class Row>
std::string array_of(const char* field, const std::vector<Row>& rows) {
  std::string text = fmt::format("  \"{}\": [", field);
  const char* between = "\n";
  for (const Row& row : rows) {
    text += between + line_of(row);
    between = ",\n";
  }
  return text + "\n  ]";
}

}  // namespace

Rules parse_rules(std::string_view text, const std::string& name) {
  constexpr std::string_view kFields[] = {"version", "made_by", "rules", "lengths"};
  const json file = parse_json(text, name, Errc::configuration);
  check_fields(file, name, kFields);
  if (const json* version = find_field(file, "version"))
    static_cast<void>(whole_number(*version, name, "version", kVersion, kVersion));
  const json* rows = find_field(file, "rules");
  if (rows == nullptr || !rows->is_array()) refuse_rules(name, "an array \"rules\" is missing");
  Rules rules{.name = name, .rows = {}, .lengths = all_lengths_in(file, name)};
  for (const json& row : *rows)
    rules.rows.push_back(rule_in(row, fmt::format("{}: rule {}", name, rules.rows.size() + 1)));
  return rules;
}

Rules read_rules(const std::string& file) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad())
    throw Error(Errc::configuration, fmt::format("FAB_RULES: the file {} cannot be read", in_quotes(file)));
  Rules rules = parse_rules(text, fmt::format("FAB_RULES: {}", escaped(file)));
  rules.name = escaped(file);
  return rules;
}

std::string to_json(const Rules& rules, std::string_view made_by) {
  std::string text = fmt::format("{{\n  \"version\": {},\n  \"made_by\": \"{}\",\n{}", kVersion, json_text(made_by),
                                 array_of("rules", rules.rows));
  if (!rules.lengths.empty()) text += ",\n" + array_of("lengths", rules.lengths);
  return text + "\n}\n";
}

}  // namespace fab::collectives
