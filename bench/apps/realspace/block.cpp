#include "realspace/block.h"

#include <algorithm>
#include <array>
#include <vector>

namespace realspace {
namespace {

constexpr std::size_t kPointsAtATime = 64;  // of two blocks, they stay in the first cache
using Tile = std::array<std::array<double, kBlockStep>, kBlockStep>;

void add_tile(std::size_t points, std::size_t width, const double* x, const double* y, double* products) {
  Tile sum{};
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t i = 0; i < kBlockStep; ++i) {
      for (std::size_t j = 0; j < kBlockStep; ++j) sum[i][j] += x[p * width + i] * y[p * width + j];
    }
  }
  for (std::size_t i = 0; i < kBlockStep; ++i) {
    for (std::size_t j = 0; j < kBlockStep; ++j) products[i * width + j] += sum[i][j];
  }
}

// `columns` has the rows as columns. The result goes to `out`.
template <std::size_t points>
void combine_points(std::size_t width, const Matrix& columns, const double* x, double* out) {
  for (std::size_t k = 0; k < width; k += kBlockStep) {
    std::array<std::array<double, kBlockStep>, points> sum{};
    for (std::size_t i = 0; i < width; ++i) {
      const double* row = columns.row(i) + k;
      for (std::size_t p = 0; p < points; ++p) {
        for (std::size_t j = 0; j < kBlockStep; ++j) sum[p][j] += x[p * width + i] * row[j];
      }
    }
    for (std::size_t p = 0; p < points; ++p) std::copy(sum[p].begin(), sum[p].end(), out + p * width + k);
  }
}

template <std::size_t points>
void combine_in_place(std::size_t width, const Matrix& columns, double* x, std::vector<double>& scratch) {
  combine_points<points>(width, columns, x, scratch.data());
  std::copy_n(scratch.data(), points * width, x);
}

}  // namespace

void upper_products(std::size_t points, std::size_t width, const double* x, const double* y,
                    std::span<double> products) {
  std::fill(products.begin(), products.end(), 0.0);
  for (std::size_t first = 0; first < points; first += kPointsAtATime) {
    const std::size_t some = std::min(kPointsAtATime, points - first);
    for (std::size_t i = 0; i < width; i += kBlockStep) {
      for (std::size_t j = i; j < width; j += kBlockStep) {
        add_tile(some, width, x + first * width + i, y + first * width + j, &products[i * width + j]);
      }
    }
  }
}

Matrix symmetric(std::size_t width, std::span<const double> products) {
  Matrix matrix(width);
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = i; j < width; ++j) matrix(i, j) = matrix(j, i) = products[i * width + j];
  }
  return matrix;
}

void combine_rows(std::size_t points, const Matrix& rows, double* x) {
  const std::size_t width = rows.size();
  Matrix columns(width);
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t k = 0; k < width; ++k) columns(i, k) = rows(k, i);
  }
  std::vector<double> scratch(kBlockStep * width);
  std::size_t p = 0;
  for (; p + kBlockStep <= points; p += kBlockStep)
    combine_in_place<kBlockStep>(width, columns, x + p * width, scratch);
  for (; p < points; ++p) combine_in_place<1>(width, columns, x + p * width, scratch);
}

}  // namespace realspace
