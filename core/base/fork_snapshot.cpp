#include "core/base/fork_snapshot.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fab::core {

namespace {

void close_end(int& end) noexcept {
  if (end >= 0) ::close(std::exchange(end, -1));
}

}  // namespace

// Without a pipe the child copies while the parent goes on.
void ForkSnapshot::begin() noexcept {
  if (::pipe2(pipe_, O_CLOEXEC) != 0) pipe_[0] = pipe_[1] = -1;
}

void ForkSnapshot::wait_in_parent() noexcept {
  close_end(pipe_[1]);
  char nothing = 0;
  while (pipe_[0] >= 0 && ::read(pipe_[0], &nothing, 1) < 0 && errno == EINTR) {
  }
  close_end(pipe_[0]);
}

void ForkSnapshot::end_in_child() noexcept {
  close_end(pipe_[0]);
  close_end(pipe_[1]);
}

bool replace_by_copy(std::byte* mapping, std::size_t bytes, int descriptor) noexcept {
  void* const room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  auto* const copy = static_cast<std::byte*>(room);
  const auto end = static_cast<off_t>(bytes);
  for (off_t data = ::lseek(descriptor, 0, SEEK_DATA); data >= 0 && data < end;) {
    const off_t hole = ::lseek(descriptor, data, SEEK_HOLE);
    const off_t last = hole < 0 || hole > end ? end : hole;
    std::memcpy(copy + data, mapping + data, static_cast<std::size_t>(last - data));
    data = ::lseek(descriptor, last, SEEK_DATA);
  }
  if (::mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, mapping) != MAP_FAILED) return true;
  ::munmap(copy, bytes);
  return false;
}

}  // namespace fab::core
