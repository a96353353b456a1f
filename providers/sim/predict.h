// What schedules cost, without payload and without contexts: for a million ranks, where each does little.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fab/schedule.h"
#include "providers/sim/model.h"

namespace fab::sim {

/// What one rank does.
struct Prediction {
  Time end{};                  ///< all begin at time 0
  std::uint64_t messages = 0;  ///< that it sends
  std::uint64_t bytes = 0;     ///< in them
};

/// The schedule of a rank; called once for each.
using ScheduleOf = std::function<Schedule(Rank)>;

/// Carries out the schedules of all ranks in virtual time, by the rules of Model: the times are those of a Job on a
/// network that disturbs nothing. Of a message, only its payload counts. Sends of up to `inject_bytes` are complete
/// when the processor has spent its overhead on them. Takes about 8 bytes of memory for each operation, and 100 for
/// each rank. Throws Error(invalid_schedule) when messages do not meet: it names a rank and what it waits for.
[[nodiscard]] std::vector<Prediction> predict(const Model& model, int ranks, const ScheduleOf& schedule_of,
                                              std::uint64_t inject_bytes = 64);

/// When the last rank is done.
[[nodiscard]] Time longest(std::span<const Prediction> predictions);

}  // namespace fab::sim
