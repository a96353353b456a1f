#include "core/base/forks.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace fab::core {

namespace {

std::atomic<std::uint32_t> fork_count{0};

struct Participants {
  std::mutex mutex;
  std::vector<ForkParticipant*> all;  ///< in the order in which their locks are taken
};

/// Never destroyed, as participants may be destroyed later.
Participants& participants() {
  static Participants& state = *new Participants;
  return state;
}

template <class Act>
void in_reverse(Act&& act) {
  const auto& all = participants().all;
  std::for_each(all.rbegin(), all.rend(), [&act](ForkParticipant* each) { act(*each); });
}

void before_fork() noexcept {
  participants().mutex.lock();
  for (ForkParticipant* each : participants().all) each->before_fork();
}

void after_fork() noexcept {
  in_reverse([](ForkParticipant& each) { each.after_fork(); });
  participants().mutex.unlock();
}

void begin_abroad() noexcept {
  fork_count.fetch_add(1, std::memory_order_relaxed);
  in_reverse([](ForkParticipant& each) { each.begin_abroad(); });
  participants().mutex.unlock();
}

}  // namespace

std::uint32_t forks() noexcept { return fork_count.load(std::memory_order_relaxed); }

ForkParticipant::ForkParticipant(Order order) {
  // It fails for want of memory only; the next call fails then, too.
  [[maybe_unused]] static const int registered =
      ::pthread_atfork(fab::core::before_fork, fab::core::after_fork, fab::core::begin_abroad);
  const std::lock_guard lock(participants().mutex);
  std::vector<ForkParticipant*>& all = participants().all;
  all.insert(order == Order::first ? all.begin() : all.end(), this);
}

ForkParticipant::~ForkParticipant() {
  const std::lock_guard lock(participants().mutex);
  std::erase(participants().all, this);
}

}  // namespace fab::core
