// The settings of libfab_dropin: FAB_DROPIN and FAB_STATS.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "bindings/dropin/functions.h"

namespace fab::dropin {

enum class Mode {
  automatic,  ///< fab carries what rules.h says
  all,        ///< all that it can
  off,
  listed  ///< all calls of the functions that are named
};

struct Settings {
  Mode mode = Mode::automatic;
  std::array<bool, kFunctions> listed{};
  bool stats = false;
  std::string stats_file{};  ///< empty: no file

  [[nodiscard]] bool wants(Function function) const noexcept {
    return mode == Mode::automatic || mode == Mode::all || (mode == Mode::listed && listed[index_of(function)]);
  }
};

/// Throws Error(configuration) that lists the functions where `dropin` names another one.
[[nodiscard]] Settings parse_settings(std::string_view dropin, bool stats);

/// Of this process: read by the first call that reaches libfab_dropin, at the latest by MPI_Finalize; one line in the
/// log says so (FAB_LOG=info). If they are not valid, all calls go to MPI, and one line in the log says why.
[[nodiscard]] const Settings& settings() noexcept;

}  // namespace fab::dropin
