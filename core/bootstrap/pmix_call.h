// Converts PMIx's statuses to fab's errors.
#pragma once

#include <fmt/core.h>
#include <pmix.h>

#include <string>

#include "fab/error.h"

namespace fab {

/// "PMIx_Commit: UNREACHABLE".
inline std::string describe_pmix(const std::string& call, pmix_status_t status) {
  return fmt::format("{}: {} ({})", call, PMIx_Error_string(status), status);
}

/// Throws Error(bootstrap) unless the call succeeded.
inline void check_pmix(pmix_status_t status, const std::string& call) {
  if (status != PMIX_SUCCESS) throw Error(Errc::bootstrap, describe_pmix(call, status));
}

}  // namespace fab
