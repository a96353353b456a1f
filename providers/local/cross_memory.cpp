#include "providers/local/cross_memory.h"

#include <sys/prctl.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fab::local {

namespace {

using Result = CrossMemory::Result;

/// Copies with process_vm_readv or process_vm_writev; `error` is the kernel's word, if it said no.
template <class Call>
Result copy(Call call, long process, Pieces here, Pieces there, int& error) {
  while (!here.left().empty()) {
    const std::span<const iovec> its_here = std::as_const(here).left();
    const std::span<const iovec> its_there = std::as_const(there).left();
    const ssize_t count =
        call(static_cast<pid_t>(process), its_here.data(), its_here.size(), its_there.data(), its_there.size(), 0);
    if (count < 0 && errno == ESRCH) return Result::gone;
    if (count <= 0) {
      error = count < 0 ? errno : 0;
      return Result::refused;
    }
    here.skip(static_cast<std::uint64_t>(count));
    there.skip(static_cast<std::uint64_t>(count));
  }
  return Result::done;
}

/// EFAULT says that this message's memory cannot be had; the sender will find out why.
bool is_final(int error) noexcept { return error != 0 && error != EFAULT; }

}  // namespace

CrossMemory::CrossMemory(LocalLong way, const Log& log) : log_(log), usable_(way != LocalLong::ring), writes_(usable_) {
  // Where Yama restricts debuggers to parents, this lets the peers read; elsewhere the call fails, which changes
  // nothing.
  if (usable_) static_cast<void>(::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0));
}

CrossMemory::Result CrossMemory::read(long process, const Pieces& to, const Pieces& from, std::uint64_t bytes) {
  int error = 0;
  const Result result = copy(::process_vm_readv, process, to.first(bytes), from.first(bytes), error);
  if (is_final(error)) {
    usable_ = false;
    log_.write(LogLevel::info, "long messages go through shared memory: process_vm_readv: {}", std::strerror(error));
  }
  return result;
}

CrossMemory::Result CrossMemory::write(long process, const Pieces& to, const Pieces& from, std::uint64_t bytes) {
  int error = 0;
  const Result result = copy(::process_vm_writev, process, from.first(bytes), to.first(bytes), error);
  if (is_final(error)) {
    writes_ = false;
    log_.write(LogLevel::info, "only receivers copy long messages: process_vm_writev: {}", std::strerror(error));
  }
  return result;
}

}  // namespace fab::local
