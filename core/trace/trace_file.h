// Writes what a rank has recorded to its file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace/recorder.h"
#include "fab/topology.h"

namespace fab::core {

/// One moment on two clocks, in nanoseconds: that of the records, and the time of day.
struct ClockPair {
  std::uint64_t monotonic_ns = 0;
  std::uint64_t realtime_ns = 0;
};
[[nodiscard]] ClockPair read_clocks() noexcept;

/// Starts that belong together, as OperationStatistics has them.
struct TracedOperation {
  std::string communicator{};
  int ranks = 0;
  std::string operation{};
  std::string algorithm{};
};

/// What is needed to understand records.
struct TraceHead {
  Rank rank = 0;  ///< of the job
  int ranks = 1;  ///< of the job
  std::string transport{};
  ClockPair begin{};
  ClockPair end{};
  std::vector<TracedOperation> operations{};
};

/// The file of a rank: its number behind the name.
[[nodiscard]] std::string trace_file_of(const std::string& name, Rank rank);

/// Throws Error(no_resources) if the file cannot be written.
void write_trace(const std::string& file, const TraceHead& head, const Recorder& recorder);

}  // namespace fab::core
