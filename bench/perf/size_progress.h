// Goes through the sizes of a subcommand, and shows how far it is.
#pragma once

#include <cstddef>
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

/// Calls `measure(size)` for each of them, and has rank 0 `show(size, what it returned)`.
template <class Sizes, class Measure, class Show>
void for_each_size(const char* command, const Job& job, const Sizes& sizes, const Measure& measure, const Show& show) {
  SizeProgress progress(command, job, sizes.size());
  for (const std::size_t size : sizes) {
    progress.next();
    const auto results = measure(size);
    progress.clear();
    if (job.rank == 0) show(size, results);
  }
}

}  // namespace perf
