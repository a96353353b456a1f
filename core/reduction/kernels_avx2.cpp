// The kernels once more, compiled for x86 processors with AVX2.
#if defined(__x86_64__)

#include "core/reduction/kernel_set.h"

namespace fab {

constinit const KernelSet kAvx2Kernels = make_kernel_set();

}  // namespace fab

#endif
