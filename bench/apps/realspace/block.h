// Blocks of vectors: `width` values side by side for each point, one for each vector; width is a multiple of 4.
#ifndef BENCH_APPS_REALSPACE_BLOCK_H
#define BENCH_APPS_REALSPACE_BLOCK_H

#include <cstddef>
#include <span>

#include "realspace/symmetric_matrix.h"

namespace realspace {

inline constexpr std::size_t kBlockStep = 4;  // of a block's width

// products[i width + j] = sum over the points of x_i y_j, for j >= i - 3 at least; the others hold nothing of use.
void upper_products(std::size_t points, std::size_t width, const double* x, const double* y,
                    std::span<double> products);

// The symmetric matrix whose upper triangle is in `products`.
Matrix symmetric(std::size_t width, std::span<const double> products);

// x_k = sum over i of rows(k, i) x_i, in place.
void combine_rows(std::size_t points, const Matrix& rows, double* x);

}  // namespace realspace

#endif
