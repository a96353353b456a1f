// Measures the memory and the descriptors that a process holds.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace fab::test {

struct Usage {
  std::uint64_t resident_kib = 0;
  std::uint64_t descriptors = 0;
};

inline Usage measure() {
  Usage usage;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  usage.resident_kib = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
  std::error_code gone;  // a thread may close a descriptor meanwhile
  for (std::filesystem::directory_iterator each("/proc/self/fd", gone), end; each != end; each.increment(gone))
    ++usage.descriptors;
  return usage;
}

/// The allocator, and pages that are touched for the first time late, may take some; what grows with every thousandth
/// operation does not pass after 10^7.
inline bool is_flat(const Usage& before, const Usage& after) {
  constexpr std::uint64_t kToleranceKib = 8 * 1024;
  return after.resident_kib <= before.resident_kib + kToleranceKib && after.descriptors <= before.descriptors;
}

}  // namespace fab::test
