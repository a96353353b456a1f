#include "bindings/tools/lengths_report.h"

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>

#include "collectives/choice/select.h"
#include "core/base/processors.h"
#include "providers/local/thresholds.h"

namespace fab::tools {

namespace {

using nlohmann::ordered_json;

ordered_json describe(const LongestCopied& longest) {
  return {{"unknown", longest.unknown}, {"changing", longest.changing}, {"constant", longest.constant}};
}

const char* origin_of(const Config& config) {
  if (config.local_long != LocalLong::automatic) return "FAB_LOCAL_LONG";
  return config.local_lengths ? "FAB_RULES" : "built-in";
}

}  // namespace

// Where fab's memory is not mapped it counts as any other.
ordered_json describe_lengths(const Config& config) {
  const Config with_rules = collectives::with_rules(config);
  const LocalLengths& lengths = with_rules.local_lengths.value_or(local::kBuiltInLengths);
  const LongestCopied program = local::longest_copied(config.local_long, lengths);
  const LongestCopied mapped = local::longest_copied_of_mapped(config.local_long, lengths);
  return {{"processor", core::processor_kind()},
          {"by", origin_of(with_rules)},
          {"program", describe(program)},
          {"fab", describe(mapped == local::kNeverMapped ? program : mapped)}};
}

void print_lengths(const ordered_json& lengths) {
  fmt::print("\nwithin a node senders copy messages of up to so many bytes ({}; {})\n",
             lengths["by"].get<std::string>(), lengths["processor"].get<std::string>());
  fmt::print("  {:<18} {:>9} {:>9} {:>9}\n", "that lie in", "unknown", "changing", "constant");
  for (const auto& [field, name] : {std::pair{"program", "the program's"}, std::pair{"fab", "fab's memory"}}) {
    const auto bytes = [&row = lengths[field]](const char* what) { return row[what].get<std::uint64_t>(); };
    fmt::print("  {:<18} {:>9} {:>9} {:>9}\n", name, bytes("unknown"), bytes("changing"), bytes("constant"));
  }
}

}  // namespace fab::tools
