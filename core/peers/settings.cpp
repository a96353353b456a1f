#include "core/peers/settings.h"

#include <fmt/core.h>

#include <algorithm>

namespace fab::core {

namespace {

constexpr char kEndOfLine = '\n';
constexpr char kEndOfSettings = '|';  // in no name and in no value

/// Of a variable that is not listed, its default.
std::string_view value_in(std::string_view settings, const ConfigRow& row) {
  while (!settings.empty()) {
    const std::string_view line = settings.substr(0, settings.find(kEndOfLine));
    const std::size_t name = line.find('=');
    if (line.substr(0, name) == row.name) return line.substr(name + 1);
    settings.remove_prefix(std::min(line.size() + 1, settings.size()));
  }
  return row.default_value;
}

}  // namespace

std::string shared_settings(const Config& config) {
  std::string text;
  for (const ConfigRow& row : config_rows()) {
    const std::string value = row.print(config);
    if (row.same_everywhere && value != row.default_value) text += fmt::format("{}={}{}", row.name, value, kEndOfLine);
  }
  return text;
}

std::string find_difference(std::string_view here, std::string_view there) {
  for (const ConfigRow& row : config_rows()) {
    if (!row.same_everywhere) continue;
    const std::string_view ours = value_in(here, row);
    const std::string_view theirs = value_in(there, row);
    if (ours != theirs) return fmt::format("{} is {} here and {} there", row.name, ours, theirs);
  }
  return {};
}

std::string with_settings(std::string_view settings, std::string_view address) {
  return fmt::format("{}{}{}", settings, kEndOfSettings, address);
}

Published split_published(std::string_view text) noexcept {
  const std::size_t end = text.find(kEndOfSettings);
  if (end == std::string_view::npos) return {{}, text};
  return {text.substr(0, end), text.substr(end + 1)};
}

}  // namespace fab::core
