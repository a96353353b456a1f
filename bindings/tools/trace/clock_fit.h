// Finds how one clock goes beside another one, from messages between their hosts.
//
// Clock A shows that of B plus offset(t), t being B's time. A message from A to B arrives after it was sent: offset(t)
// is above its sending time in A less its arrival in B, at the time of the arrival. One from B to A bounds it from
// above in the same way. The line between all bounds that keeps the largest distance from them is the estimate; half
// the width of the corridor is its error, as long as both clocks go evenly and the drift is right. A wrong drift adds
// its part: most of it before the first message and after the last one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fab::tools {

/// offset(time) is above, or below, `offset`. In nanoseconds.
struct ClockBound {
  double time = 0;
  double offset = 0;
};

struct ClockFit {
  enum class Kind {
    none,         ///< there are no bounds
    from_below,   ///< messages went one way: the offset is at least offset(t)
    from_above,   ///< or at most
    between,      ///< in the middle of the corridor
    contradicted  ///< no line lies between the bounds: a clock was set, or does not go evenly. The line that breaks
                  ///< them least
  };

  Kind kind = Kind::none;
  double base = 0;        ///< offset at time `origin`
  double drift = 0;       ///< per nanosecond
  double origin = 0;      ///< of times
  double half_width = 0;  ///< of the corridor: the largest error; negative where it is contradicted

  [[nodiscard]] double offset(double time) const noexcept { return base + drift * (time - origin); }
};

/// Clocks of computers differ by less than this in speed.
inline constexpr double kMostDrift = 5e-4;

/// Where bounds come from one side, the line touches them without any drift. Among equally good lines the one with the
/// least drift.
[[nodiscard]] ClockFit fit_clock(std::span<const ClockBound> below, std::span<const ClockBound> above);

}  // namespace fab::tools
