// A line on stderr that shows the progress of a tool.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace fab::tools {

/// On a terminal a line that is written over, from half a second on; elsewhere a line every ten seconds.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// What is worked on from now on.
  void begin(std::string task);
  void show(const char* what, std::uint64_t done, std::uint64_t all);
  /// Before something else is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  const bool terminal_;
  std::string task_;
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace fab::tools
