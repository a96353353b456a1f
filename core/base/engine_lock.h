// The lock of a context's engine, as a name for the annotations that all folders of core use.
#pragma once

#include "core/base/mutex.h"

namespace fab::core {

/// Stands for the lock of the engine of the context at hand. Members that it guards are marked
/// FAB_GUARDED_BY(engine_lock); functions whose caller must hold it, FAB_REQUIRES(engine_lock). Lock takes it
/// (core/progress/engine.h). It has no data and costs nothing; it does not tell the engines of two contexts apart.
class FAB_CAPABILITY("the engine's lock") EngineLock {
 public:
  /// Tells the analysis that the calling code runs under the lock: where a provider, or a std::function, calls it.
  void assert_held() const noexcept FAB_ASSERT_CAPABILITY(this) {}
};

inline constexpr EngineLock engine_lock;

}  // namespace fab::core
