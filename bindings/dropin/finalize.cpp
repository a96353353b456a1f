// MPI_Finalize, before which the statistics are reported.
#include <mpi.h>

#include "bindings/dropin/next_calls.h"
#include "bindings/dropin/settings.h"
#include "bindings/dropin/statistics.h"
#include "bindings/mpi/base/failure.h"

namespace fab::dropin {

namespace {

void tell_statistics() noexcept {
  if (!settings().stats || !mpi::mpi_is_usable()) return;
  try {
    report_statistics();
  } catch (...) {
    static_cast<void>(mpi::log_exception("MPI_Finalize"));
  }
}

}  // namespace

}  // namespace fab::dropin

using namespace fab::dropin;

int MPI_Finalize() {
  tell_statistics();
  return next_mpi_calls.finalize();
}
int PMPI_Finalize() {
  tell_statistics();
  return next_pmpi_calls.finalize();
}
