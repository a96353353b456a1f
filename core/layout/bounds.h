// Lower and upper bounds of compound layouts (MPI-4.1, section 5.1.6).
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout/checked.h"
#include "fab/layout.h"

namespace fab {

/// The bounds of a set of elements; nothing for a set without any.
struct Bounds {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  bool any = false;

  [[nodiscard]] std::int64_t extent() const { return checked_subtract(upper, lower); }
};

/// A layout with no bytes and no bounds, such as Layout(), sets no bounds either.
[[nodiscard]] inline Bounds bounds_of(const Layout& element) {
  const bool any = element.size() > 0 || element.lower_bound() != 0 || element.extent() != 0;
  return {element.lower_bound(), checked_add(element.lower_bound(), element.extent()), any};
}

/// `count` copies, `stride` bytes apart, the first `displacement` further on.
[[nodiscard]] inline Bounds repeat(Bounds one, std::uint64_t count, std::int64_t stride, std::int64_t displacement) {
  if (count == 0 || !one.any) return {};
  const std::int64_t last = checked_add(displacement, reach(count, stride));
  one.lower = checked_add(one.lower, std::min(displacement, last));
  one.upper = checked_add(one.upper, std::max(displacement, last));
  return one;
}

[[nodiscard]] inline Bounds join(const Bounds& a, const Bounds& b) {
  if (!a.any) return b;
  if (!b.any) return a;
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper), true};
}

}  // namespace fab
