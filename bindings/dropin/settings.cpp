#include "bindings/dropin/settings.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

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

/// One process of the job says it.
void say_active(const std::string& dropin) {
  int rank = 0;
  if (mpi::mpi_is_usable()) mpi::require(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  if (rank == 0) mpi::log_info("libfab_dropin", fmt::format("active, with FAB_DROPIN={}", dropin));
}

void tell_of_missing_heap() {
  if (::dlsym(RTLD_DEFAULT, "fab_heap_is_loaded") == nullptr)
    mpi::log_error("libfab_dropin", "FAB_DROPIN_HEAP is on, and libfab_heap.so is not loaded: fab_run loads it");
}

Settings read_settings() noexcept {
  Settings nothing{.mode = Mode::off};
  try {
    const Config config = read_config(process_environment);
    nothing.stats = config.stats;  // which all ranks have alike: their counts are added up
    nothing.stats_file = config.stats_file;
    Settings settings = parse_settings(config.dropin, config.stats);
    settings.stats_file = config.stats_file;
    say_active(config.dropin);
    if (config.dropin_heap) tell_of_missing_heap();
    return settings;
  } catch (...) {
    static_cast<void>(mpi::log_exception("libfab_dropin"));
    return nothing;
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
