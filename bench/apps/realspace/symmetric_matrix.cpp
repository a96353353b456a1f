#include "realspace/symmetric_matrix.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace realspace {
namespace {

// Replaces (x, y) by (c x - s y, s x + c y).
void turn(double& x, double& y, double c, double s) {
  const double old_x = x;
  x = c * old_x - s * y;
  y = s * old_x + c * y;
}

// Rotates in the plane (p, q) so that a(p, q) vanishes; the rows of v follow.
void rotate(Matrix& a, Matrix& v, std::size_t p, std::size_t q) {
  if (a(p, q) == 0) return;
  const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
  const double c = 1 / std::hypot(t, 1.0);
  for (std::size_t k = 0; k < a.size(); ++k) turn(a(k, p), a(k, q), c, t * c);
  for (std::size_t k = 0; k < a.size(); ++k) turn(a(p, k), a(q, k), c, t * c);
  for (std::size_t k = 0; k < a.size(); ++k) turn(v(p, k), v(q, k), c, t * c);
}

// Of the entries beside the diagonal, and of those on it.
std::pair<double, double> squared_norms(const Matrix& a) {
  double beside = 0;
  double on = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a.size(); ++j) (i == j ? on : beside) += a(i, j) * a(i, j);
  }
  return {beside, on};
}

double dot(const double* a, const double* b, std::size_t size) { return std::inner_product(a, a + size, b, 0.0); }

// row' M.
std::vector<double> times(const double* row, const Matrix& m) {
  std::vector<double> product(m.size());
  for (std::size_t k = 0; k < m.size(); ++k) {
    for (std::size_t j = 0; j < m.size(); ++j) product[j] += row[k] * m(k, j);
  }
  return product;
}

// Rows that are orthonormal in the inner product S: Gram-Schmidt, starting from basis vectors of length 1, as their
// lengths differ by orders of magnitude near convergence.
std::optional<Matrix> orthonormal_basis(const Matrix& s) {
  constexpr double kIndependent = 1e-12;
  const std::size_t size = s.size();
  Matrix basis(size);
  for (std::size_t i = 0; i < size; ++i) {
    if (!(s(i, i) > 0)) return std::nullopt;
    basis(i, i) = 1 / std::sqrt(s(i, i));
    for (std::size_t j = 0; j < i; ++j) {
      const double along = dot(times(basis.row(i), s).data(), basis.row(j), size);
      for (std::size_t k = 0; k < size; ++k) basis(i, k) -= along * basis(j, k);
    }
    const double length_squared = dot(times(basis.row(i), s).data(), basis.row(i), size);
    if (!(length_squared > kIndependent)) return std::nullopt;
    for (std::size_t k = 0; k < size; ++k) basis(i, k) /= std::sqrt(length_squared);
  }
  return basis;
}

}  // namespace

Matrix Matrix::leading(std::size_t size) const {
  Matrix part(size);
  for (std::size_t i = 0; i < size; ++i) std::copy_n(row(i), size, &part(i, 0));
  return part;
}

EigenSystem eigen_system(Matrix a) {
  constexpr int kMostSweeps = 40;  // convergence is quadratic in the end: a handful suffices
  constexpr double kDiagonal = 1e-34;
  const std::size_t size = a.size();
  Matrix v(size);
  for (std::size_t i = 0; i < size; ++i) v(i, i) = 1;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    const auto [beside, on] = squared_norms(a);
    if (beside <= kDiagonal * on) break;
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = p + 1; q < size; ++q) rotate(a, v, p, q);
    }
  }
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return a(i, i) < a(j, j); });
  EigenSystem result{{}, Matrix(size)};
  for (std::size_t k = 0; k < size; ++k) {
    result.values.push_back(a(order[k], order[k]));
    std::copy_n(v.row(order[k]), size, &result.vectors(k, 0));
  }
  return result;
}

std::optional<EigenSystem> ritz_pairs(const Matrix& a, const Matrix& s) {
  const std::optional<Matrix> basis = orthonormal_basis(s);
  if (!basis) return std::nullopt;
  Matrix projected(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::vector<double> row = times(basis->row(i), a);
    for (std::size_t j = 0; j < a.size(); ++j) projected(i, j) = dot(row.data(), basis->row(j), a.size());
  }
  EigenSystem system = eigen_system(std::move(projected));
  for (std::size_t k = 0; k < a.size(); ++k) {
    const std::vector<double> coefficients = times(system.vectors.row(k), *basis);
    std::copy(coefficients.begin(), coefficients.end(), &system.vectors(k, 0));
  }
  return system;
}

}  // namespace realspace
