// Shows how far a subcommand is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bindings/tools/progress_line.h"
#include "perf/command.h"

namespace perf {

/// Of rank 0: the sizes that are done.
class SizeProgress {
 public:
  SizeProgress(const char* command, const Job& job, std::size_t sizes) : sizes_(sizes) {
    if (job.rank == 0) line_.emplace();
    if (line_) line_->begin(std::string(program_name()) + ' ' + command);
  }

  /// One more is begun.
  void next() {
    if (line_) line_->show("sizes", done_, sizes_);
    ++done_;
  }
  /// Before something else is printed.
  void clear() {
    if (line_) line_->clear();
  }

 private:
  std::optional<fab::tools::ProgressLine> line_;
  std::uint64_t sizes_;
  std::uint64_t done_ = 0;
};

}  // namespace perf
