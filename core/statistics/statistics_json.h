// Statistics as JSON, in which ranks tell them to each other and files keep them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fab/statistics.h"

namespace fab::core {

/// The inverse of Statistics::json(). Throws Error(mismatch) if the text is none of this version of fab.
[[nodiscard]] Statistics read_statistics(std::string_view json);

/// A file of a whole job: all ranks that told theirs, and those that did not.
[[nodiscard]] std::string job_json(std::span<const Statistics> told, std::span<const Rank> silent);

}  // namespace fab::core
