#include "core/statistics/job_file.h"

#include <fmt/core.h>

#include <fstream>

#include "fab/error.h"

namespace fab::core {

void write_job_file(const std::string& name, std::span<const StatisticsByWay> told, std::span<const Rank> silent,
                    std::span<const FilePart> parts) {
  std::ofstream file(name);
  file << job_json(told, silent, parts);
  file.close();
  if (!file) throw Error(Errc::no_resources, fmt::format("the file {} cannot be written", name));
}

}  // namespace fab::core
