#include "core/base/high_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>

namespace fab::core {

namespace {

/// -1: the process may have too few.
int first_high_number() noexcept {
  constexpr rlim_t kMost = 4096;
  constexpr rlim_t kSpare = 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= kSpare) return -1;
  return static_cast<int>(std::min(limit.rlim_cur, kMost) - kSpare);
}

int duplicate_high(int fd) noexcept {
  const int first = first_high_number();
  return first < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, first);
}

/// Lets the kernel's table of this process's descriptors grow to the high numbers.
bool make_room() noexcept {
  const int root = ::open("/", O_PATH | O_CLOEXEC);
  const int high = root < 0 ? -1 : duplicate_high(root);
  if (high >= 0) ::close(high);
  if (root >= 0) ::close(root);
  return high >= 0;
}

// While the process has one thread this takes some microseconds. Later the kernel would wait until all its processors
// have passed through the scheduler, 12 to 25 ms, which is then paid by the first descriptor that is moved up.
[[maybe_unused]] const bool has_room = __libc_single_threaded != 0 && make_room();

}  // namespace

int moved_up(int fd) noexcept {
  const int high = fd < 0 ? -1 : duplicate_high(fd);
  if (high < 0) return fd;
  ::close(fd);
  return high;
}

}  // namespace fab::core
