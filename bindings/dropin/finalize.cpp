// MPI_Finalize, in which the statistics are reported: before fab closes, but after the functions that the program has
// MPI call there, for these may communicate.
#include <mpi.h>

#include "bindings/dropin/next_calls.h"
#include "bindings/dropin/settings.h"
#include "bindings/dropin/statistics.h"
#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/lifecycle/lifecycle.h"

namespace fab::dropin {

namespace {

void tell_statistics() noexcept {
  try {
    report_statistics();
  } catch (...) {
    static_cast<void>(mpi::log_exception("MPI_Finalize"));
  }
}

void tell_statistics_at_the_end() noexcept {
  if (!settings().stats || !mpi::mpi_is_usable()) return;
  try {
    mpi::before_closing(tell_statistics);
  } catch (...) {
    static_cast<void>(mpi::log_exception("MPI_Finalize"));
  }
}

}  // namespace

}  // namespace fab::dropin

using namespace fab::dropin;

int MPI_Finalize() {
  tell_statistics_at_the_end();
  return next_mpi_calls.finalize();
}
int PMPI_Finalize() {
  tell_statistics_at_the_end();
  return next_pmpi_calls.finalize();
}
