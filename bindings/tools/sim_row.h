// One row of fab_sim's output: the prediction for one call of a collective.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bindings/tools/patterns.h"
#include "providers/sim/predict.h"

namespace fab::tools {

struct SimRow {
  Pattern pattern;
  PatternCall call;
  std::vector<sim::Prediction> predictions{};  ///< of each rank; none: it is not simulated
  sim::Work work{};                            ///< where it is not
  std::string why{};                           ///< it is not

  [[nodiscard]] bool simulated() const noexcept { return !predictions.empty(); }
};

/// "bcast binary, 16 ranks, 8 B".
[[nodiscard]] std::string name_of(const SimRow& row);
/// For machines: times in us and sizes in bytes.
[[nodiscard]] nlohmann::ordered_json describe(const SimRow& row, bool per_rank);
/// A table for people.
[[nodiscard]] std::string table_head();
[[nodiscard]] std::string table_line(const SimRow& row);
/// Of each rank.
[[nodiscard]] std::string rank_lines(const SimRow& row);

}  // namespace fab::tools
