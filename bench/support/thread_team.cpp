#include "support/thread_team.h"

#include <utility>

namespace bench {

ThreadTeam::ThreadTeam(int threads) : begin_(threads), end_(threads) {
  for (int thread = 1; thread < threads; ++thread) others_.emplace_back([this, thread] { follow(thread); });
}

ThreadTeam::~ThreadTeam() {
  work_ = nullptr;
  if (!others_.empty()) begin_.arrive_and_wait();
  for (std::thread& other : others_) other.join();
}

void ThreadTeam::run(const std::function<void(int thread)>& work) {
  if (others_.empty()) return work(0);
  work_ = &work;
  begin_.arrive_and_wait();
  take_part(0);
  end_.arrive_and_wait();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::follow(int thread) {
  while (true) {
    begin_.arrive_and_wait();
    if (work_ == nullptr) return;
    take_part(thread);
    end_.arrive_and_wait();
  }
}

void ThreadTeam::take_part(int thread) {
  try {
    (*work_)(thread);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

}  // namespace bench
