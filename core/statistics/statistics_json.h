// Statistics as JSON, in which ranks tell them to each other and files keep them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fab/statistics.h"

namespace fab::core {

/// The inverse of StatisticsByWay::json(). Throws Error(mismatch) if the text is none of this version of fab.
[[nodiscard]] StatisticsByWay read_statistics(std::string_view json);

/// An object that a binding adds to the file of a job, beside the statistics of its ranks.
struct FilePart {
  std::string key;
  std::string json;  ///< of a whole value; text that is none throws where the file is made
};

/// A file of a whole job: all ranks that told theirs, those that did not, and the parts under their keys.
[[nodiscard]] std::string job_json(std::span<const StatisticsByWay> told, std::span<const Rank> silent,
                                   std::span<const FilePart> parts = {});

}  // namespace fab::core
