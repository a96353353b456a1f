// What a call is called where calls are compared (FAB_CHECK).
#pragma once

#include <string>

#include "collectives/call.h"
#include "core/communicator/communicator.h"

namespace fab::collectives {

/// Everything that ranks must agree about: the collective, its root, operation, type, bytes or counts, and algorithm.
/// Empty where the communicator compares no calls.
[[nodiscard]] std::string words_of(const core::Communicator& communicator, const CollectiveCall& call);

}  // namespace fab::collectives
