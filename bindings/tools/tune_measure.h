// Makes rules by measurement, on the ranks of a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/choice/rules.h"
#include "fab/communicator.h"

namespace fab::tools {

struct MeasureRequest {
  std::vector<Collective> collectives{};
  std::vector<int> ranks{};  ///< the first ranks of the job, 2 to all of them
  std::vector<std::size_t> bytes{};
  double seconds = 60;     ///< all of it shall take
  std::size_t memory = 0;  ///< of each rank; calls that need more are left out
  double within = 1;
};

/// Times every algorithm of every collective, in turns. Collective; the result is rank 0's. Throws
/// Error(invalid_argument) where nodes have different numbers of ranks, or ranks that do not follow each other.
[[nodiscard]] std::vector<collectives::Rule> measure_rules(const Communicator& world, const MeasureRequest& request);

}  // namespace fab::tools
