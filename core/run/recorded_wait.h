// Records a wait of a caller (FAB_TRACE).
#pragma once

#include <cstdint>

#include "core/base/engine_lock.h"
#include "core/progress/engine.h"
#include "core/progress/pending.h"
#include "core/trace/recorder.h"

namespace fab::core {

/// From its construction to its end, unless what it is for is done by then or nothing is recorded.
class RecordedWait {
 public:
  /// Null: there is nothing to wait for.
  RecordedWait(const Engine& engine, const Pending* pending) noexcept : recorder_(engine.recorder()) {
    if (recorder_ == nullptr) [[likely]]
      return;
    if (pending != nullptr && !pending->done())
      begin(*pending);
    else
      recorder_ = nullptr;
  }
  ~RecordedWait() {
    if (recorder_ != nullptr) [[unlikely]]
      record();
  }
  RecordedWait(const RecordedWait&) = delete;
  RecordedWait& operator=(const RecordedWait&) = delete;

  /// It was for this one, whose number stays while the caller has its handle.
  void name(const Pending& pending) noexcept FAB_NO_ANALYSIS { exchange_ = static_cast<std::uint32_t>(pending.number); }

 private:
  [[gnu::cold, gnu::noinline]] void begin(const Pending& pending) noexcept;
  [[gnu::cold, gnu::noinline]] void record() const noexcept;

  Recorder* recorder_;
  std::uint64_t since_ns_ = 0;
  std::uint32_t exchange_ = 0;
};

}  // namespace fab::core
