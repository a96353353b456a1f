// A page for people about the statistics of a job.
#pragma once

#include <span>
#include <string>

#include "fab/statistics.h"

namespace fab::core {

/// Of these ranks: figures with their spread, operations by the time that was waited for them, ways of messages by
/// operation and by provider, and peers by the time that was waited for them. Figures that are 0 on all ranks are left
/// out.
[[nodiscard]] std::string statistics_page(std::span<const StatisticsByWay> ranks);

}  // namespace fab::core
