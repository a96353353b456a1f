// Event descriptors within a process: a thread sleeps on one until another thread raises it.
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace fab::core {

inline constexpr pollfd kNoEvent{-1, POLLIN, 0};

/// Unless it is open. Returns whether it is.
inline bool open_event(pollfd& event) noexcept {
  if (event.fd < 0) event.fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return event.fd >= 0;
}

inline void close_event(const pollfd& event) noexcept {
  if (event.fd >= 0) ::close(event.fd);
}

inline void raise(const pollfd& event) noexcept {
  const std::uint64_t one = 1;
  // Only a full counter can refuse the write, and then the descriptor is readable already.
  [[maybe_unused]] const auto written = ::write(event.fd, &one, sizeof(one));
}

}  // namespace fab::core
