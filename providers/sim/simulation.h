// Programs of all ranks, carried out in virtual time: what the ways to do so share.
#pragma once

#include <cstdint>
#include <vector>

#include "providers/sim/predict.h"
#include "providers/sim/program.h"

namespace fab::sim {

struct SimulationInput {
  const Model& model;
  const PredictOptions& options;
  Programs programs;
  int ranks = 1;
};

/// By the rules for cards that pay G.
[[nodiscard]] std::vector<Prediction> simulate_cards(SimulationInput input);
/// By those for processors that do.
[[nodiscard]] std::vector<Prediction> simulate_processors(SimulationInput input);

/// Half of what Time can count, so that whatever is added to an earlier time does not overflow.
inline constexpr Time kEndOfTime = Time(std::int64_t{1} << 62);
[[noreturn]] void refuse_time();
/// Returns the time of a rank. Throws Error(invalid_argument) beyond the end.
[[nodiscard]] inline Time within_time(Time time) {
  if (time > kEndOfTime) refuse_time();
  return time;
}

/// A message that has arrived.
struct Arrived {
  Time here{};
  Rank from = 0;
  Step message{};
};

}  // namespace fab::sim
