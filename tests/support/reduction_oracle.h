// The expected results of reductions, computed element by element, simply, and independently of the kernels.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "fab/reduction.h"

namespace fab::test {

inline constexpr std::size_t kElementTypes = static_cast<std::size_t>(ElementType::float64_float64) + 1;
inline constexpr std::size_t kReduceOps = static_cast<std::size_t>(ReduceOp::user) + 1;

/// Every pair of an operation and a type, defined or not.
[[nodiscard]] std::vector<Reduction> all_reductions();

/// MPI-4.1, 6.9.2 and 6.9.4, by families of types.
[[nodiscard]] bool is_in_the_standard(Reduction reduction);

enum class Values {
  any,  ///< often extreme ones
  tame  ///< on which all libraries agree: no zeros with a sign, nothing infinite or overflowing, truth that is 1
};

/// One element of the type, sometimes the one that `other` (null: none) is.
void draw(ElementType type, Values values, std::mt19937_64& random, const std::byte* other, std::byte* element);

/// inout = in op inout for one element.
void reduce_one(Reduction reduction, const std::byte* in, std::byte* inout);

/// Whether two elements are the same, bit for bit. Padding does not count, and one NaN is as good as another.
[[nodiscard]] bool same(ElementType type, const std::byte* a, const std::byte* b);

}  // namespace fab::test
