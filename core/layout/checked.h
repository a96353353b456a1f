// Arithmetic on bytes that says so when 64 bits do not hold the result.
#pragma once

#include <cstdint>
#include <limits>

#include "core/layout/tree.h"
#include "fab/error.h"

namespace fab {

[[noreturn]] inline void throw_overflow() {
  throw Error(Errc::invalid_argument, "Layout: its size or one of its offsets is beyond 2^63-1 bytes");
}

[[nodiscard]] inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow();
  return sum;
}

/// The factors may be signed or not; the product must fit a signed number.
template <class A, class B>
[[nodiscard]] std::int64_t checked_multiply(A a, B b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow();
  return product;
}

/// Bytes of data in a list of trees.
[[nodiscard]] inline std::uint64_t checked_bytes(Trees trees) {
  std::int64_t bytes = 0;
  for_each_tree(trees, [&bytes](const LayoutNode& root, Trees) {
    bytes = checked_add(bytes, checked_multiply(root.count, root.bytes));
  });
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace fab
