#include "core/run/run_pool.h"

namespace fab::core {

void RunPool::release(Run& run) noexcept {
  runs_.give_back(run);
  if (keeper_ != nullptr && !in_use()) keeper_->drop(*this);
}

}  // namespace fab::core
