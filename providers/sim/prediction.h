// Input and output of a prediction: the values that predict() and the simulations share.
#pragma once

#include <cstdint>
#include <functional>

#include "fab/schedule.h"
#include "providers/sim/model.h"

namespace fab::sim {

/// What one rank does.
struct Prediction {
  Time end{};                  ///< all begin at time 0
  std::uint64_t messages = 0;  ///< that it sends
  std::uint64_t bytes = 0;     ///< in them
};

/// The schedule of a rank.
using ScheduleOf = std::function<Schedule(Rank)>;

/// How far a prediction is.
struct Progress {
  const char* what = "";  ///< is counted
  std::uint64_t done = 0;
  std::uint64_t all = 0;
};

struct PredictOptions {
  /// Sends of up to so many bytes are complete when the processor has spent its overhead on them.
  std::uint64_t inject_bytes = 64;
  /// Called every some thousand ranks and messages.
  std::function<void(const Progress&)> watch{};
};

}  // namespace fab::sim
