// Eigenvectors of symmetric matrices of at most 3 x 3.
#ifndef BENCH_APPS_REALSPACE_SYMMETRIC_MATRIX_H
#define BENCH_APPS_REALSPACE_SYMMETRIC_MATRIX_H

#include <array>
#include <cstddef>
#include <optional>

#include "realspace/vector3.h"

namespace realspace {

using Matrix3 = std::array<Vector3, 3>;  // rows

struct EigenSystem {
  Vector3 values;   // ascending
  Matrix3 vectors;  // row k belongs to values[k], of length 1
};

// By Jacobi rotations.
EigenSystem eigen_system(Matrix3 a);

struct RitzPair {
  double value;
  Vector3 coefficients;  // zero beyond `size`
};

// The lowest pair of A c = value S c, of the leading size x size blocks (1 <= size <= 3), with c' S c = 1. No value
// when S is not safely positive definite, that is, when the basis it belongs to is linearly dependent.
std::optional<RitzPair> lowest_ritz_pair(const Matrix3& a, const Matrix3& s, std::size_t size);

}  // namespace realspace

#endif
