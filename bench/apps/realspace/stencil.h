// The third-order (three points to each side, exact to h^6) central difference for the second derivative.
#ifndef BENCH_APPS_REALSPACE_STENCIL_H
#define BENCH_APPS_REALSPACE_STENCIL_H

#include <array>

namespace realspace {

inline constexpr int kStencilRadius = 3;

// h^2 f''(0) = sum over k of c[|k|] f(k h). B. Fornberg, "Generation of finite difference formulas on arbitrarily
// spaced grids", Mathematics of Computation 51 (1988) 699-706, table 1 (second derivative, order of accuracy 6).
inline constexpr std::array<double, kStencilRadius + 1> kSecondDerivative = {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90};

// Points that a 3-D Laplacian reads beside the central one.
inline constexpr int kStencilNeighbors = 3 * 2 * kStencilRadius;

}  // namespace realspace

#endif
