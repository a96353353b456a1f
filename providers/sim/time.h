// Virtual time. It counts picoseconds, so that gaps per byte are exact enough and every machine computes the same.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <ratio>

namespace fab::sim {

using Time = std::chrono::duration<std::int64_t, std::pico>;

[[nodiscard]] inline Time nanoseconds(double count) { return Time(std::llround(count * 1000)); }
[[nodiscard]] constexpr double in_us(Time time) noexcept { return static_cast<double>(time.count()) / 1e6; }

}  // namespace fab::sim
