// Simulations of the programs of all ranks in virtual time: the part that all kinds share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "providers/sim/prediction.h"
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

/// Half of what Time can count, so that a sum with an earlier time does not overflow.
inline constexpr Time kEndOfTime = Time(std::int64_t{1} << 62);
[[noreturn]] void refuse_time();
/// Returns the time of a rank. Throws Error(invalid_argument) beyond the end.
[[nodiscard]] inline Time within_time(Time time) {
  if (time > kEndOfTime) refuse_time();
  return time;
}

/// What both ways have: the ranks' states and predictions, and the events to come, the earliest first.
template <class RankState, class Event>
class SimulatedRanks {
 protected:
  explicit SimulatedRanks(SimulationInput input)
      : model_(input.model),
        options_(input.options),
        programs_(std::move(input.programs)),
        states_(static_cast<std::size_t>(input.ranks)),
        predictions_(static_cast<std::size_t>(input.ranks)) {}

  [[nodiscard]] RankState& state(Rank rank) { return states_[static_cast<std::size_t>(rank)]; }
  /// Its send ends with its receive.
  [[nodiscard]] bool is_late(std::uint64_t bytes) const noexcept {
    return bytes > model_.eager_bytes && bytes > options_.inject_bytes;
  }

  const Model& model_;
  const PredictOptions& options_;
  Programs programs_;
  std::vector<RankState> states_;
  std::vector<Prediction> predictions_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t last_order_ = 0;
  std::uint64_t arrived_ = 0;  ///< messages
};

/// A message that has arrived.
struct Arrived {
  Time here{};
  Rank from = 0;
  Step message{};
};

}  // namespace fab::sim
