// Reads the files that FAB_TRACE writes (core/trace/trace_record.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/trace_file.h"
#include "core/trace/trace_record.h"

namespace fab::tools {

/// The file of one rank.
struct RankTrace {
  std::string file{};  ///< its name, for messages
  core::TraceHead head{};
  std::string host{};
  std::string clock{};     ///< ranks with the same one read the same clock
  std::uint64_t lost = 0;  ///< records that newer ones have replaced
  std::vector<std::string> ways{};
  std::vector<core::TraceRecord> records{};  ///< by time
};

/// `bytes` is what the file holds. Throws Error(mismatch) that names the file, what is wrong with it, and where.
[[nodiscard]] RankTrace parse_trace(const std::string& file, std::string_view bytes);

/// The files of a job, by rank. A name without a file stands for all ranks' files (NAME.0, NAME.1...). Throws
/// Error(invalid_argument) for one that cannot be read, Error(mismatch) as parse_trace and for files that are not of
/// one job.
[[nodiscard]] std::vector<RankTrace> read_traces(const std::vector<std::string>& names);

}  // namespace fab::tools
