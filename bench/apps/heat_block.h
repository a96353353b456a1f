// A rank's block of the box through which heat spreads, and the stencil of seven points.
#ifndef BENCH_APPS_HEAT_BLOCK_H
#define BENCH_APPS_HEAT_BLOCK_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace apps::heat {

inline constexpr double kShare = 0.1;  // of a neighbour's difference that flows in a step
inline constexpr std::size_t kDimensions = 3;
using Place = std::array<std::size_t, kDimensions>;

// This rank's block of a periodic grid of cells, with a halo of one cell around it.
struct Block {
  std::size_t n = 0;  // own cells along each side
  Place first{};      // its first cell in the whole grid
  Place whole{};      // cells of the whole grid

  std::size_t row() const { return n + 2; }
  std::size_t plane() const { return row() * row(); }
  std::size_t cells() const { return plane() * row(); }
  std::size_t index(std::size_t x, std::size_t y, std::size_t z) const { return x * plane() + y * row() + z; }

  template <class Visit>
  void for_cells(const Place& low, const Place& high, Visit visit) const {
    for (std::size_t x = low[0]; x <= high[0]; ++x) {
      for (std::size_t y = low[1]; y <= high[1]; ++y) {
        for (std::size_t z = low[2]; z <= high[2]; ++z) visit(x, y, z);
      }
    }
  }

  void relax(const double* now, double* next, const Place& low, const Place& high) const {
    for_cells(low, high, [&](std::size_t x, std::size_t y, std::size_t z) {
      const std::size_t i = index(x, y, z);
      const double around =
          now[i - plane()] + now[i + plane()] + now[i - row()] + now[i + row()] + now[i - 1] + now[i + 1];
      next[i] = now[i] + kShare * (around - 6 * now[i]);
    });
  }
  void relax_inside(const double* now, double* next) const { relax(now, next, {2, 2, 2}, {n - 1, n - 1, n - 1}); }
  // The cells at the faces, each once.
  void relax_faces(const double* now, double* next) const {
    for (const std::size_t x : {std::size_t{1}, n}) relax(now, next, {x, 1, 1}, {x, n, n});
    for (const std::size_t y : {std::size_t{1}, n}) relax(now, next, {2, y, 1}, {n - 1, y, n});
    for (const std::size_t z : {std::size_t{1}, n}) relax(now, next, {2, 2, z}, {n - 1, n - 1, z});
  }

  // The same of the planes [begin, end) alone, as a thread has them: first the cells at the faces.
  void relax_faces(const double* now, double* next, std::size_t begin, std::size_t end) const {
    for (std::size_t x = begin; x < end; ++x) {
      if (x == 1 || x == n) {
        relax(now, next, {x, 1, 1}, {x, n, n});
        continue;
      }
      for (const std::size_t y : {std::size_t{1}, n}) relax(now, next, {x, y, 1}, {x, y, n});
      for (const std::size_t z : {std::size_t{1}, n}) relax(now, next, {x, 2, z}, {x, n - 1, z});
    }
  }
  void relax_inside(const double* now, double* next, std::size_t begin, std::size_t end) const {
    relax(now, next, {std::max<std::size_t>(begin, 2), 2, 2}, {std::min(end, n) - 1, n - 1, n - 1});
  }

  // One wave along each side of the whole grid.
  double start(std::size_t x, std::size_t y, std::size_t z) const {
    const auto wave = [&](std::size_t dimension, std::size_t own) {
      return std::sin(2 * std::numbers::pi * static_cast<double>(first[dimension] + own - 1) /
                      static_cast<double>(whole[dimension]));
    };
    return wave(0, x) * wave(1, y) * wave(2, z);
  }
  // What a step leaves of it.
  double kept() const {
    double kept = 1;
    for (std::size_t cells : whole) {
      kept += 2 * kShare * (std::cos(2 * std::numbers::pi / static_cast<double>(cells)) - 1);
    }
    return kept;
  }

  void fill(double* field) const {
    for_cells({1, 1, 1}, {n, n, n},
              [&](std::size_t x, std::size_t y, std::size_t z) { field[index(x, y, z)] = start(x, y, z); });
  }
  double largest_error(const double* field, int steps) const {
    const double scale = std::pow(kept(), steps);
    double error = 0;
    for_cells({1, 1, 1}, {n, n, n}, [&](std::size_t x, std::size_t y, std::size_t z) {
      const double difference = std::abs(field[index(x, y, z)] - scale * start(x, y, z));
      error = std::isfinite(difference) ? std::max(error, difference) : HUGE_VAL;
    });
    return error;
  }
};

}  // namespace apps::heat

#endif
