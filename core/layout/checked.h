// Arithmetic on byte offsets that throws if the result does not fit in 64 bits.
#pragma once

#include <cstdint>

#include "fab/error.h"
#include "fab/layout.h"

namespace fab {

[[noreturn]] inline void throw_overflow() {
  throw Error(Errc::invalid_argument, "Layout: its size or one of its offsets is beyond 2^63-1 bytes");
}

[[nodiscard]] inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow();
  return sum;
}

[[nodiscard]] inline std::int64_t checked_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) throw_overflow();
  return difference;
}

/// The factors may be signed or not; the product must fit a signed number.
template <class A, class B>
[[nodiscard]] std::int64_t checked_multiply(A a, B b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow();
  return product;
}

/// Sums and products of sizes and counts; they must fit a signed number too, as offsets do.
[[nodiscard]] inline std::uint64_t size_sum(std::uint64_t a, std::uint64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow();
  return static_cast<std::uint64_t>(sum);
}

[[nodiscard]] inline std::uint64_t size_product(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(checked_multiply(a, b));
}

/// Bytes from the first of `count` repetitions to the last.
[[nodiscard]] inline std::int64_t reach(std::uint64_t count, std::int64_t stride) {
  return count <= 1 ? 0 : checked_multiply(count - 1, stride);
}

[[nodiscard]] inline std::int64_t reach(const LayoutNode& node) { return reach(node.count, node.stride); }

}  // namespace fab
