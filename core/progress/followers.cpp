#include "core/progress/followers.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/base/events.h"
#include "fab/error.h"

namespace fab::core {

Followers::~Followers() { close_event({descriptor_.load(), POLLIN, 0}); }

Followers::Epoch Followers::epoch() {
  const MutexLock lock(mutex_);
  return epoch_;
}

Followers::Epoch Followers::wait(Epoch seen, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const MutexLock lock(mutex_);
  while (epoch_ == seen && mutex_.wait_until(changed_, deadline)) {
  }
  return epoch_;
}

void Followers::notify() noexcept {
  if (count_.load() == 0) return;
  {
    const MutexLock lock(mutex_);
    ++epoch_;
  }
  changed_.notify_all();
  if (const int fd = descriptor_.load(std::memory_order_relaxed); fd >= 0) raise({fd, POLLIN, 0});
}

int Followers::descriptor() {
  if (const int fd = descriptor_.load(); fd >= 0) return fd;
  pollfd event = kNoEvent;
  if (!open_event(event)) throw Error(Errc::no_resources, std::string("eventfd: ") + std::strerror(errno));
  raise(event);
  descriptor_.store(event.fd);
  join();
  return event.fd;
}

void Followers::share_descriptor(int fd) {
  if (descriptor_.load() >= 0) return;
  const int shared = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (shared < 0) throw Error(Errc::no_resources, std::string("fcntl: ") + std::strerror(errno));
  descriptor_.store(shared);
  join();
}

void Followers::clear_descriptor() noexcept {
  std::uint64_t count = 0;
  if (const int fd = descriptor_.load(std::memory_order_relaxed); fd >= 0) [[maybe_unused]]
    const auto bytes = ::read(fd, &count, sizeof(count));
}

}  // namespace fab::core
