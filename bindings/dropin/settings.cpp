#include "bindings/dropin/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bindings/mpi/base/failure.h"
#include "core/base/config.h"
#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::dropin {

namespace {

void list(Settings& settings, std::string_view name) {
  const auto* const found = std::ranges::find(kFunctionNames, name);
  if (found == kFunctionNames.end())
    throw Error(Errc::configuration,
                fmt::format("FAB_DROPIN: {} is no function that fab carries. Valid are auto, all, off, or some of {}",
                            in_quotes(name), fmt::join(kFunctionNames, ",")));
  settings.listed[static_cast<std::size_t>(found - kFunctionNames.begin())] = true;
}

Settings read_settings() noexcept {
  try {
    const Config config = read_config(process_environment);
    return parse_settings(config.dropin, config.stats);
  } catch (...) {
    static_cast<void>(mpi::log_exception("libfab_dropin"));
    return {.mode = Mode::off};
  }
}

}  // namespace

Settings parse_settings(std::string_view dropin, bool stats) {
  Settings settings{.stats = stats};
  if (dropin == "auto") return settings;
  settings.mode = dropin == "all" ? Mode::all : dropin == "off" ? Mode::off : Mode::listed;
  if (settings.mode != Mode::listed) return settings;
  while (true) {
    const std::size_t comma = dropin.find(',');
    list(settings, dropin.substr(0, comma));
    if (comma == std::string_view::npos) return settings;
    dropin.remove_prefix(comma + 1);
  }
}

const Settings& settings() noexcept {
  static const Settings all = read_settings();
  return all;
}

}  // namespace fab::dropin
