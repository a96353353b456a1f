// Predicts the cost of schedules, without data and without contexts: for up to a million ranks, if each does little.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "providers/sim/prediction.h"

namespace fab::sim {

/// Carries out the schedules of all ranks in virtual time, by the rules of Model: where cards pay G, the times are
/// those of a Job on a network that disturbs nothing. Of a message, only its payload counts. Asks for the schedule of
/// each rank once. Takes about 8 bytes of memory for each operation, and 100 to 200 for each rank. Throws
/// Error(invalid_schedule) when messages do not meet: it names a rank and what it waits for; Error(invalid_argument)
/// for times beyond 53 days.
[[nodiscard]] std::vector<Prediction> predict(const Model& model, int ranks, const ScheduleOf& schedule_of,
                                              const PredictOptions& options = {});

/// What all ranks do together.
struct Work {
  double operations = 0;  ///< sends, receives, copies and reductions
  double messages = 0;
};

/// Extrapolated from a few ranks, of which rank `root` stands for itself alone. Looks at no further rank once there are
/// far more operations than `enough`, for then a single schedule is long, too.
[[nodiscard]] Work estimate_work(int ranks, Rank root, const ScheduleOf& schedule_of,
                                 double enough = std::numeric_limits<double>::infinity());

/// When the last rank is done.
[[nodiscard]] Time longest(std::span<const Prediction> predictions);

}  // namespace fab::sim
