#include "support/process_usage.h"

#include <malloc.h>
#include <sys/resource.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace bench {
namespace {

constexpr std::size_t kKibibyte = 1024;

double cpu_seconds() {
  timespec time{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0)
    throw std::system_error(errno, std::generic_category(), "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)");
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

long wakeups() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) throw std::system_error(errno, std::generic_category(), "getrusage");
  return usage.ru_nvcsw;
}

}  // namespace

CpuUse cpu_use_while_sleeping(double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const double cpu_before_s = cpu_seconds();
  const long wakeups_before = wakeups();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
  // One wake-up is this thread's own.
  return {.percent = 100 * (cpu_seconds() - cpu_before_s) / elapsed_s,
          .wakeups_per_s = static_cast<double>(wakeups() - wakeups_before - 1) / elapsed_s};
}

std::size_t heap_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

std::size_t anonymous_resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::size_t kibibytes = 0;
    if (word == "RssAnon:" && status >> kibibytes) return kibibytes * kKibibyte;
  }
  throw std::runtime_error("/proc/self/status has no RssAnon");
}

}  // namespace bench
