#include "bindings/mpi/hook.h"

#include <dlfcn.h>
#include <mpi.h>

#include <utility>

#include "bindings/mpi/completed_by_mpi.h"
#include "bindings/mpi/failure.h"
#include "bindings/mpi/naming.h"
#include "bindings/mpi/next.h"
#include "bindings/mpi/process.h"

namespace fab::mpi {

namespace {

using Poll = int (*)();
using Change = int (*)(Poll);

/// Open MPI's functions that add to, and take from, its list. They are not in its manual, but in every version since
/// its first; its own MPI-IO uses them for the same.
Change find_change(const char* name) noexcept {
  void* const library = open_mpi_library();
  if (library == nullptr) return nullptr;
  const auto found = reinterpret_cast<Change>(::dlsym(library, name));
  ::dlclose(library);
  return found;
}

bool hooked = false;

thread_local bool polling = false;

/// Whether what is in flight, or the answers to peers that wait for a call which this rank has refused, wait for
/// callers.
bool fab_waits_for_callers() noexcept {
  const Process& process = Process::instance();
  return process.is_open() && process.engine().active() > 0 && !process.engine().has_thread();
}

}  // namespace

bool mpi_polls_fab() noexcept {
#if defined(MPICH_VERSION)
  return true;
#else
  return hooked;
#endif
}

void open_hook() noexcept {
  const Change add = find_change("opal_progress_register");
  hooked = add != nullptr && add(poll_within_mpi) == 0;
}

void close_hook() noexcept {
  if (!std::exchange(hooked, false)) return;
  const Change remove = find_change("opal_progress_unregister");
  if (remove == nullptr || remove(poll_within_mpi) != 0) log_error("MPI_Finalize", "cannot leave MPI's progress");
}

// The MPI calls in here make progress, too, and so come back.
int poll_within_mpi() noexcept {
  if (polling) return 0;
  const bool drives = fab_waits_for_callers();
  if (!drives && !naming_is_pending() && !requests_await_mpi()) return 0;
  polling = true;
  int completed = 0;
  static_cast<void>(guarded("MPI", MPI_COMM_NULL, [drives, &completed] {
    advance_naming();
    if (drives && !requests_await_mpi()) Process::instance().engine().poll_once();
    completed = complete_requests();
  }));
  polling = false;
  return completed;
}

}  // namespace fab::mpi
