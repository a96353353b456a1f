#include "core/run/run_pool.h"

namespace fab::core {

RunPool::~RunPool() = default;

Run& RunPool::add_run() {
  runs_.push_back(std::make_unique<Run>(plan_, *this));
  return *runs_.back();
}

void RunPool::release(Run& run) noexcept {
  run.next_idle = idle_runs_;
  idle_runs_ = &run;
  if (--runs_in_use_ == 0 && keeper_ != nullptr) keeper_->drop(*this);
}

}  // namespace fab::core
