#include "providers/local/cross_memory.h"

#include <sys/prctl.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace fab::local {

CrossMemory::CrossMemory(LongMessages way, const Log& log) : log_(log), usable_(way != LongMessages::ring) {
  // Where Yama restricts debuggers to parents, this lets the peers read; elsewhere the call fails, which changes
  // nothing.
  if (usable_) static_cast<void>(::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0));
}

CrossMemory::Result CrossMemory::read(long process, const Pieces& to, const Pieces& from, std::uint64_t bytes) {
  Pieces target = to.first(bytes);
  Pieces source = from.first(bytes);
  while (bytes > 0) {
    const auto here = target.left();
    const auto there = source.left();
    const ssize_t count =
        ::process_vm_readv(static_cast<pid_t>(process), here.data(), here.size(), there.data(), there.size(), 0);
    if (count < 0 && errno == ESRCH) return Result::gone;
    if (count <= 0) {
      // EFAULT says that this message's memory cannot be read; the sender will find out why.
      if (count < 0 && errno != EFAULT) {
        usable_ = false;
        log_.write(LogLevel::info, "long messages go through shared memory: process_vm_readv: {}",
                   std::strerror(errno));
      }
      return Result::refused;
    }
    target.skip(static_cast<std::uint64_t>(count));
    source.skip(static_cast<std::uint64_t>(count));
    bytes -= static_cast<std::uint64_t>(count);
  }
  return Result::done;
}

}  // namespace fab::local
