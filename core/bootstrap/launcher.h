// Detects whether a launcher started this process.
#pragma once

#include <optional>
#include <string>

#include "core/base/config.h"

namespace fab {

/// What every PMIx server sets for the processes that it serves.
inline constexpr const char* kPmixNamespaceVariable = "PMIX_NAMESPACE";

/// A variable that says "this process is one of several", as "NAME=value"; none in a process started by hand.
[[nodiscard]] std::optional<std::string> find_launcher_variable(const Environment& environment);

/// Such a variable where the PMIx server is none of that launcher's: Open MPI 4 starts one of its own for each process
/// that it was not started for, and such a server knows of one process.
[[nodiscard]] std::optional<std::string> find_other_launcher_variable(const Environment& environment);

}  // namespace fab
