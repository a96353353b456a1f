// Eigenvectors of dense symmetric matrices of at most some dozens of rows.
#ifndef BENCH_APPS_REALSPACE_SYMMETRIC_MATRIX_H
#define BENCH_APPS_REALSPACE_SYMMETRIC_MATRIX_H

#include <cstddef>
#include <optional>
#include <vector>

namespace realspace {

class Matrix {
 public:
  explicit Matrix(std::size_t size) : size_(size), values_(size * size) {}

  std::size_t size() const { return size_; }
  double& operator()(std::size_t row, std::size_t column) { return values_[row * size_ + column]; }
  double operator()(std::size_t row, std::size_t column) const { return values_[row * size_ + column]; }
  const double* row(std::size_t number) const { return values_.data() + number * size_; }

  // Of the first `size` rows and columns.
  Matrix leading(std::size_t size) const;

 private:
  std::size_t size_;
  std::vector<double> values_;
};

struct EigenSystem {
  std::vector<double> values;  // ascending
  Matrix vectors;              // row k belongs to values[k]
};

// Vectors of length 1, by Jacobi rotations.
EigenSystem eigen_system(Matrix a);

// All pairs of A c = value S c, with c' S c = 1. No value when S is not safely positive definite, that is, when the
// basis it belongs to is linearly dependent.
std::optional<EigenSystem> ritz_pairs(const Matrix& a, const Matrix& s);

}  // namespace realspace

#endif
