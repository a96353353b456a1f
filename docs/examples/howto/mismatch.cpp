// A mistake: rank 0 calls another collective than the others. With FAB_CHECK=1 every rank is told.
#include <fab/fab.h>

#include <cstdio>

int main() {
  const auto context = fab::Context::open();
  double residual = 1;
  try {
    if (context.rank() == 0)
      fab::barrier(context.world());
    else
      fab::allreduce(context.world(), residual, fab::ReduceOp::max);
  } catch (const fab::Error& error) {
    std::printf("rank %d: %s\n", context.rank(), error.what());
  }
}
