#include "realspace/symmetric_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace realspace {
namespace {

// Replaces (x, y) by (c x - s y, s x + c y).
template <class T>
void turn(T& x, T& y, double c, double s) {
  const T old_x = x;
  x = c * old_x - s * y;
  y = s * old_x + c * y;
}

// Rotates in the plane (p, q) so that a[p][q] vanishes; the rows of v follow.
void rotate(Matrix3& a, Matrix3& v, std::size_t p, std::size_t q) {
  if (a[p][q] == 0) return;
  const double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
  const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
  const double c = 1 / std::hypot(t, 1.0);
  for (Vector3& row : a) turn(row[p], row[q], c, t * c);
  turn(a[p], a[q], c, t * c);
  turn(v[p], v[q], c, t * c);
}

double bilinear(const Vector3& x, const Matrix3& m, const Vector3& y) {
  return x[0] * dot(m[0], y) + x[1] * dot(m[1], y) + x[2] * dot(m[2], y);
}

// Coefficients of `size` vectors that are orthonormal in the inner product S: Gram-Schmidt, starting from basis vectors
// of length 1, as their lengths differ by orders of magnitude near convergence.
std::optional<Matrix3> orthonormal_basis(const Matrix3& s, std::size_t size) {
  constexpr double kIndependent = 1e-12;
  Matrix3 basis{};
  for (std::size_t i = 0; i < size; ++i) {
    if (!(s[i][i] > 0)) return std::nullopt;
    Vector3 c{};
    c[i] = 1 / std::sqrt(s[i][i]);
    for (std::size_t j = 0; j < i; ++j) c = c - bilinear(c, s, basis[j]) * basis[j];
    const double length_squared = bilinear(c, s, c);
    if (!(length_squared > kIndependent)) return std::nullopt;
    basis[i] = (1 / std::sqrt(length_squared)) * c;
  }
  return basis;
}

}  // namespace

EigenSystem eigen_system(Matrix3 a) {
  constexpr int kSweeps = 20;  // convergence is quadratic: a handful suffices
  Matrix3 v = {Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}};
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (auto [p, q] : {std::pair<std::size_t, std::size_t>{0, 1}, {0, 2}, {1, 2}}) rotate(a, v, p, q);
  }
  std::array<std::size_t, 3> order = {0, 1, 2};
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return a[i][i] < a[j][j]; });
  EigenSystem result{};
  for (std::size_t k = 0; k < 3; ++k) {
    result.values[k] = a[order[k]][order[k]];
    result.vectors[k] = v[order[k]];
  }
  return result;
}

std::optional<RitzPair> lowest_ritz_pair(const Matrix3& a, const Matrix3& s, std::size_t size) {
  const std::optional<Matrix3> basis = orthonormal_basis(s, size);
  if (!basis) return std::nullopt;
  Matrix3 projected{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) projected[i][j] = bilinear((*basis)[i], a, (*basis)[j]);
    if (i >= size) projected[i][i] = std::numeric_limits<double>::max();  // never the lowest
  }
  const EigenSystem system = eigen_system(projected);
  RitzPair pair{system.values[0], {}};
  for (std::size_t k = 0; k < size; ++k) pair.coefficients = pair.coefficients + system.vectors[0][k] * (*basis)[k];
  return pair;
}

}  // namespace realspace
