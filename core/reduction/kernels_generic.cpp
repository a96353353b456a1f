// The kernels for every processor of the architecture.
#include "core/reduction/kernel_set.h"

namespace fab {

constinit const KernelSet kGenericKernels = make_kernel_set();

}  // namespace fab
