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

}  // namespace fab::core
