#include "core/base/anonymous_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fab::core {

namespace {

/// To exceed this limit is answered by SIGXFSZ, which ends the process. Empty: it allows so many bytes.
std::string refusal_by_limit(std::uint64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) return {};
  return fmt::format("a file of {} bytes is longer than `ulimit -f` allows ({} bytes)", bytes,
                     static_cast<std::uint64_t>(limit.rlim_cur));
}

}  // namespace

AnonymousFile make_anonymous_file(const char* name, std::uint64_t bytes) {
  if (std::string refusal = refusal_by_limit(bytes); !refusal.empty()) return {.refusal = std::move(refusal)};
  const int descriptor = ::memfd_create(name, MFD_CLOEXEC);
  if (descriptor < 0) return {.refusal = fmt::format("memfd_create: {}", std::strerror(errno))};
  if (::fchmod(descriptor, S_IRUSR | S_IWUSR) == 0 && ::ftruncate(descriptor, static_cast<off_t>(bytes)) == 0)
    return {.descriptor = descriptor};
  std::string refusal = fmt::format("a file of {} bytes: {}", bytes, std::strerror(errno));
  ::close(descriptor);
  return {.refusal = std::move(refusal)};
}

AnonymousFile make_reserved_file(std::uint64_t bytes) {
  if (std::string refusal = refusal_by_limit(bytes); !refusal.empty()) return {.refusal = std::move(refusal)};
  const int descriptor = ::open(kMemoryFolder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return {.refusal = fmt::format("a file in {}: {}", kMemoryFolder, std::strerror(errno))};
  if (::fallocate(descriptor, 0, 0, static_cast<off_t>(bytes)) == 0) return {.descriptor = descriptor};
  std::string refusal = fmt::format("a file of {} bytes in {}: {}", bytes, kMemoryFolder, std::strerror(errno));
  ::close(descriptor);
  return {.refusal = std::move(refusal)};
}

}  // namespace fab::core
