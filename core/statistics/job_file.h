// The file of a job's statistics (FAB_STATS).
#pragma once

#include <span>
#include <string>

#include "core/statistics/statistics_json.h"

namespace fab::core {

/// Writes job_json into the file `name`. Throws Error(no_resources) if the file cannot be written.
void write_job_file(const std::string& name, std::span<const StatisticsByWay> told, std::span<const Rank> silent,
                    std::span<const FilePart> parts);

}  // namespace fab::core
