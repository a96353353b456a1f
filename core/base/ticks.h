// A clock that costs almost nothing, for estimates: it may run at any speed, and may jump.
#pragma once

#include <atomic>
#include <cstdint>

#if !defined(__x86_64__)
#include <chrono>
#endif

namespace fab::core {

/// Of the processor's counter, or nanoseconds where its user cannot read one; never 0.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc() | 1u;  // without <x86intrin.h>, which takes long to parse
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) | 1u;
#endif
}

/// The speed of ticks(): how many pass in 1024 ns. A guess until measure_ticks().
extern std::atomic<std::uint32_t> ticks_in_1024_ns;

/// Compares ticks() with the system's clock since this library was loaded. When a context opens: before, too little
/// time has passed.
void measure_ticks() noexcept;

/// As many ticks() as pass in `ns` nanoseconds, at most some hours.
inline std::uint64_t ticks_in(std::int64_t ns) noexcept {
  return static_cast<std::uint64_t>(ns) * ticks_in_1024_ns.load(std::memory_order_relaxed) / 1024;
}

}  // namespace fab::core
