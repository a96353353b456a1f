// Writes the records of a rank to its file (FAB_TRACE).
#include <utility>

#include "core/job/runtime.h"
#include "core/trace/trace_file.h"

namespace fab::core {

void Runtime::write_trace() noexcept {
  for (const std::shared_ptr<Runtime>& each : further_) each->write_trace();
  if (recorder_ == nullptr || engine_.halted() || std::exchange(trace_written_, true)) return;
  try {
    core::write_trace(trace_file_of(config_.trace_file, job().rank),
                      {.rank = job().rank,
                       .ranks = job().size,
                       .transport = transport_,
                       .begin = clocks_at_begin_,
                       .end = read_clocks(),
                       .operations = ledger_.names()},
                      *recorder_);
  } catch (const std::exception& error) {
    log_.write(LogLevel::error, "FAB_TRACE: {}", error.what());
  }
}

}  // namespace fab::core
