#include "core/run/recorded_wait.h"

namespace fab::core {

void RecordedWait::begin(const Pending& pending) noexcept {
  name(pending);
  since_ns_ = Recorder::now_ns();
}

void RecordedWait::record() const noexcept {
  recorder_->record({.time_ns = Recorder::now_ns(),
                     .word = since_ns_,
                     .details = TraceRecord::pack(TraceEvent::wait),
                     .exchange = exchange_});
}

}  // namespace fab::core
