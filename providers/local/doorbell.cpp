#include "providers/local/doorbell.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "fab/error.h"

namespace fab::local {

namespace {

constexpr std::uint32_t kRung = ~0u;  ///< among the numbers of processes

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

// While the process has one thread this takes a microsecond. Later the kernel would wait until all its processors have
// passed through the scheduler, 5 to 20 ms, so a process that loads fab with several threads makes fences instead.
const bool accepts_barriers = __libc_single_threaded != 0 && membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);

[[noreturn]] void fail(const char* call) {
  throw Error(Errc::no_resources, fmt::format("shared memory: {}: {}", call, std::strerror(errno)));
}

bool add(int epoll, int descriptor, std::uint32_t number) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = number;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

}  // namespace

bool accept_barriers() noexcept { return accepts_barriers; }

Doorbell::Doorbell(SegmentHead& head) : head_(head), watched_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!watched_.open()) fail("epoll_create1");
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) fail("pipe2");
  read_end_ = Descriptor(ends[0]);
  write_end_ = Descriptor(ends[1]);
  if (!add(watched_.get(), read_end_.get(), kRung)) fail("epoll_ctl");
  head_.issues_barriers = membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) ? 1 : 0;
}

void Doorbell::arm() noexcept {
  armed_ = true;
  head_.sleeping.raise([this] {
    if (head_.issues_barriers != 0) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
  });
}

void Doorbell::disarm() noexcept {
  armed_ = false;
  head_.sleeping.lower();
  std::array<char, 64> rings{};
  while (::read(read_end_.get(), rings.data(), rings.size()) == static_cast<ssize_t>(rings.size())) {
  }
}

void Doorbell::watch(long process, std::uint32_t number) {
  if (processes_.size() <= number) processes_.resize(number + 1);
  processes_[number] = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (processes_[number].open()) static_cast<void>(add(watched_.get(), processes_[number].get(), number));
}

bool Doorbell::is_alive(std::uint32_t number) const noexcept {
  pollfd end{processes_[number].get(), POLLIN, 0};
  return end.fd >= 0 && ::poll(&end, 1, 0) == 0;
}

std::vector<std::uint32_t> Doorbell::ended() {
  std::array<epoll_event, 8> events{};
  std::vector<std::uint32_t> numbers;
  const int count = ::epoll_wait(watched_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t number = events[static_cast<std::size_t>(i)].data.u32;
    if (number == kRung) continue;
    numbers.push_back(number);
    processes_[number] = Descriptor();
  }
  return numbers;
}

RemoteDoorbell::RemoteDoorbell(const SegmentName& name, SegmentHead& head, bool own_process_has_barriers)
    : head_(&head), needs_fence_(!own_process_has_barriers || head.issues_barriers == 0) {
  const std::string path = fmt::format("/proc/{}/fd/{}", name.process, name.doorbell);
  // For reading, too: a write to a pipe without a reader would end this process by a signal.
  write_end_ = Descriptor(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!write_end_.open()) fail_at_process(name.process, path);
}

// A full pipe wakes the rank anyway; after the end of the rank nothing reads the pipe.
void RemoteDoorbell::wake() noexcept {
  const char ring = 0;
  [[maybe_unused]] const ssize_t written = ::write(write_end_.get(), &ring, 1);
}

}  // namespace fab::local
