#include "bindings/tools/trace/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fab::tools {

namespace {

/// The bounds that a line can touch from above: the upper hull (Andrew's monotone chain), by time, relative to
/// `origin`. `sign` -1: the same of bounds that it touches from below, turned over.
std::vector<ClockBound> hull(std::span<const ClockBound> bounds, const ClockBound& origin, double sign) {
  std::vector<ClockBound> sorted;
  for (const ClockBound& bound : bounds)
    sorted.push_back({bound.time - origin.time, sign * (bound.offset - origin.offset)});
  std::ranges::sort(sorted, [](const ClockBound& one, const ClockBound& other) {
    return one.time != other.time ? one.time < other.time : one.offset > other.offset;
  });
  std::vector<ClockBound> hull;
  for (const ClockBound& next : sorted) {
    if (!hull.empty() && hull.back().time == next.time) continue;
    while (hull.size() >= 2) {
      const ClockBound& last = hull[hull.size() - 1];
      const ClockBound& before = hull[hull.size() - 2];
      if ((last.offset - before.offset) * (next.time - before.time) >
          (next.offset - before.offset) * (last.time - before.time))
        break;
      hull.pop_back();
    }
    hull.push_back(next);
  }
  return hull;
}

/// How high a line of that drift must begin to lie above all of the hull.
double height(const std::vector<ClockBound>& hull, double drift) {
  double highest = -std::numeric_limits<double>::infinity();
  for (const ClockBound& bound : hull) highest = std::max(highest, bound.offset - drift * bound.time);
  return highest;
}

/// Drifts at which the width of the corridor can have its maximum: it is concave, and bends at the hulls' edges alone.
void add_slopes(const std::vector<ClockBound>& hull, double sign, std::vector<double>& drifts) {
  for (std::size_t i = 1; i < hull.size(); ++i) {
    const double slope = sign * (hull[i].offset - hull[i - 1].offset) / (hull[i].time - hull[i - 1].time);
    drifts.push_back(std::clamp(slope, -kMostDrift, kMostDrift));
  }
}

ClockFit touch(std::span<const ClockBound> bounds, double sign, ClockFit::Kind kind) {
  const auto by_offset = [sign](const ClockBound& one, const ClockBound& other) {
    return sign * one.offset < sign * other.offset;
  };
  const ClockBound& last = *std::max_element(bounds.begin(), bounds.end(), by_offset);
  return {.kind = kind, .base = last.offset, .origin = last.time};
}

}  // namespace

ClockFit fit_clock(std::span<const ClockBound> below, std::span<const ClockBound> above) {
  if (below.empty() && above.empty()) return {};
  if (above.empty()) return touch(below, 1, ClockFit::Kind::from_below);
  if (below.empty()) return touch(above, -1, ClockFit::Kind::from_above);
  const ClockBound origin = below.front();
  const std::vector<ClockBound> lower = hull(below, origin, 1);
  const std::vector<ClockBound> upper = hull(above, origin, -1);
  std::vector<double> drifts{0, -kMostDrift, kMostDrift};
  add_slopes(lower, 1, drifts);
  add_slopes(upper, -1, drifts);
  std::ranges::sort(drifts, {}, [](double drift) { return std::abs(drift); });
  double widest = -std::numeric_limits<double>::infinity();
  ClockFit fit{.origin = origin.time};
  for (const double drift : drifts) {
    const double floor = height(lower, drift);
    const double ceiling = -height(upper, -drift);
    if (ceiling - floor <= widest) continue;
    widest = ceiling - floor;
    fit.drift = drift;
    fit.base = origin.offset + (floor + ceiling) / 2;
  }
  fit.half_width = widest / 2;
  fit.kind = widest > 0 ? ClockFit::Kind::between : ClockFit::Kind::contradicted;
  return fit;
}

}  // namespace fab::tools
