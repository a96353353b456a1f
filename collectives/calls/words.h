// Describes a call in words, for comparisons between ranks (FAB_CHECK).
#pragma once

#include <string>
#include <string_view>

#include "collectives/calls/call.h"

namespace fab::collectives {

/// Everything that ranks must agree about: the collective, its root, operation, type, bytes or counts, algorithm, and
/// the number of nodes.
[[nodiscard]] std::string words_of(const CollectiveCall& call, std::string_view algorithm);

}  // namespace fab::collectives
