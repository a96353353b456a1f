// A clock that costs almost nothing, for estimates: it may run at any speed, and may jump.
#pragma once

#include <cstdint>

#if !defined(__x86_64__)
#include <chrono>
#endif

namespace fab::core {

/// Some billions in a second; never 0.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc() | 1u;  // without <x86intrin.h>, which takes long to parse
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) | 1u;
#endif
}

/// As many ticks() as pass in `ns` nanoseconds, if there are 2.5 in each: for limits that may be off by a factor.
constexpr std::uint64_t ticks_in(std::int64_t ns) noexcept { return static_cast<std::uint64_t>(ns) * 5 / 2; }

}  // namespace fab::core
