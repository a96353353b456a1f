// Adds the statistics of a rank's further engines to those of its first one.
#pragma once

#include "fab/statistics.h"

namespace fab::core {

/// Communicators of engine `number`, 1 or more, get "@number" behind their names; peers and counters are added up. The
/// time since the opening stays that of the first engine.
void add_of_engine(StatisticsByWay& sums, int number, const StatisticsByWay& engine);

}  // namespace fab::core
