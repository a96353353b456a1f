// Random arguments for collectives: sizes and types that all ranks draw alike, data that each rank draws for itself.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstring>
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

[[nodiscard]] Bytes random_bytes(std::size_t bytes, Draw& draw);
/// As bytes of the numbers 1 to 4, whose sums and products are exact in any order.
template <class Number>
[[nodiscard]] Bytes small_numbers(std::size_t count, Draw& draw) {
  std::vector<Number> numbers(count);
  for (Number& number : numbers) number = static_cast<Number>(draw.number(1, 4));
  Bytes bytes(count * sizeof(Number));
  if (count > 0) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// A type of MPI's, which all ranks must draw alike: 1 to 12 bytes of data, one with a gap at its end.
[[nodiscard]] MPI_Datatype random_base(Draw& alike);

/// A committed datatype with one `base` as data in each element, perhaps with gaps.
class RandomType {
 public:
  explicit RandomType(Draw& draw, MPI_Datatype base = MPI_INT);
  ~RandomType();
  RandomType(const RandomType&) = delete;
  RandomType& operator=(const RandomType&) = delete;

  [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }
  [[nodiscard]] std::size_t extent() const noexcept { return extent_; }

 private:
  MPI_Datatype type_;
  bool derived_ = false;
  std::size_t extent_ = 0;
};

/// Displacements of blocks one after another, with a gap of one element.
[[nodiscard]] std::vector<int> displacements_of(const std::vector<int>& counts);
/// Elements that blocks at these places reach over.
[[nodiscard]] std::size_t reach_of(const std::vector<int>& counts);

}  // namespace fab::test
