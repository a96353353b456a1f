// The kernels that reduce_elements() chooses from: one set for each kind of processor that it pays for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fab/reduction.h"

namespace fab {

/// An operation on arrays of `parts` numbers an element: a sum of complex numbers is one of twice as many reals.
struct Kernel {
  using Function = void (*)(const std::byte* in, std::byte* inout, std::size_t numbers) noexcept;

  Function function = nullptr;  ///< null: the operation is not defined for the type, or is none of arithmetic
  std::uint8_t parts = 1;
};

constexpr std::size_t kElementTypes = static_cast<std::size_t>(ElementType::float64_float64) + 1;
constexpr std::size_t kReduceOps = static_cast<std::size_t>(ReduceOp::user) + 1;

class KernelSet {
 public:
  constexpr Kernel& operator[](Reduction reduction) {
    return kernels_[static_cast<std::size_t>(reduction.op)][static_cast<std::size_t>(reduction.type)];
  }
  constexpr const Kernel& operator[](Reduction reduction) const {
    return kernels_[static_cast<std::size_t>(reduction.op)][static_cast<std::size_t>(reduction.type)];
  }

 private:
  std::array<std::array<Kernel, kElementTypes>, kReduceOps> kernels_{};
};

extern const KernelSet kGenericKernels;  ///< for every processor that this build is for
#if defined(__x86_64__)
extern const KernelSet kAvx2Kernels;
#endif

}  // namespace fab
