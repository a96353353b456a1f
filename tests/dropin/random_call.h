// Random arguments for collectives: sizes and types that all ranks draw alike, data that each rank draws for itself.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <random>
#include <vector>

namespace fab::test {

using Bytes = std::vector<unsigned char>;

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}

  /// In [least, most].
  int number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  /// 0 now and then, mostly few, sometimes many.
  int count() {
    const int kind = number(0, 9);
    return kind == 0 ? 0 : kind < 7 ? number(1, 20) : kind < 9 ? number(100, 3000) : number(20000, 40000);
  }
  std::vector<int> counts(int blocks) {
    std::vector<int> all;
    for (int i = 0; i < blocks; ++i) all.push_back(number(0, 3) == 0 ? 0 : number(1, 400));
    return all;
  }

 private:
  std::mt19937 engine_;
};

/// Small whole numbers as doubles, so that sums are exact in any order.
[[nodiscard]] Bytes random_bytes(std::size_t bytes, Draw& draw);

/// A committed datatype with `ints` times int as data in each element, perhaps with gaps.
class RandomType {
 public:
  explicit RandomType(Draw& draw);
  ~RandomType();
  RandomType(const RandomType&) = delete;
  RandomType& operator=(const RandomType&) = delete;

  [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }
  [[nodiscard]] std::size_t extent() const noexcept { return extent_; }

 private:
  MPI_Datatype type_ = MPI_INT;
  bool derived_ = false;
  std::size_t extent_ = sizeof(int);
};

/// Displacements of blocks one after another, with a gap of one element.
[[nodiscard]] std::vector<int> displacements_of(const std::vector<int>& counts);
/// Elements that blocks at these places reach over.
[[nodiscard]] std::size_t reach_of(const std::vector<int>& counts);

}  // namespace fab::test
