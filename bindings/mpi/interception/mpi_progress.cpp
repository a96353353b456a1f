#include "bindings/mpi/interception/mpi_progress.h"

#include <mpi.h>

#include <utility>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/interception/find_next.h"

namespace fab::mpi {

namespace {

using Change = int (*)(int (*)());

/// Open MPI's functions that add to, and take from, its list. They are not in its manual, but in every version since
/// its first; its own MPI-IO uses them for the same.
Change find_change(const char* name) noexcept { return reinterpret_cast<Change>(find_in_mpi(name)); }

ProgressFunction joined = nullptr;

}  // namespace

bool mpi_polls_fab() noexcept {
#if defined(MPICH_VERSION)
  return true;
#else
  return joined != nullptr;
#endif
}

void join_mpi_progress(ProgressFunction function) noexcept {
  const Change add = find_change("opal_progress_register");
  if (add != nullptr && add(function) == 0) joined = function;
}

void leave_mpi_progress() noexcept {
  const ProgressFunction function = std::exchange(joined, nullptr);
  if (function == nullptr) return;
  const Change remove = find_change("opal_progress_unregister");
  if (remove == nullptr || remove(function) != 0) log_error("MPI_Finalize", "cannot leave MPI's progress");
}

}  // namespace fab::mpi
