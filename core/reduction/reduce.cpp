#include <cassert>
#include <cstring>

#include "core/reduction/kernels.h"

namespace fab {

namespace {

bool exists(Reduction reduction) noexcept {
  return static_cast<std::size_t>(reduction.op) < kReduceOps &&
         static_cast<std::size_t>(reduction.type) < kElementTypes;
}

}  // namespace

bool is_defined(Reduction reduction) noexcept {
  return exists(reduction) && (reduction.op == ReduceOp::replace || kGenericKernels[reduction].function != nullptr);
}

void reduce(Reduction reduction, const void* in, void* inout, std::size_t count) noexcept {
  assert(is_defined(reduction));
  if (reduction.op == ReduceOp::replace) {
    if (count != 0) std::memcpy(inout, in, count * element_bytes(reduction.type));
    return;
  }
  const Kernel& kernel = kGenericKernels[reduction];
  kernel.function(static_cast<const std::byte*>(in), static_cast<std::byte*>(inout), count * kernel.parts);
}

}  // namespace fab
