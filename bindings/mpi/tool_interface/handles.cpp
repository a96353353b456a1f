#include "bindings/mpi/tool_interface/handles.h"

#include <algorithm>
#include <list>

#include "core/base/mutex.h"

namespace fab::mpi {

namespace {

/// A handle is the address of its entry.
struct Handles {
  core::Mutex mutex;
  std::list<const PerformanceVariable*> open FAB_GUARDED_BY(mutex);
};

MPI_T_pvar_handle handle_of(const PerformanceVariable*& entry) noexcept {
  return reinterpret_cast<MPI_T_pvar_handle>(&entry);
}

/// Never destroyed: tools may free handles until the process ends.
Handles& handles() noexcept {
  static Handles& all = *new Handles;
  return all;
}

}  // namespace

MPI_T_pvar_handle make_pvar_handle(const PerformanceVariable& variable) {
  Handles& all = handles();
  const core::MutexLock lock(all.mutex);
  return handle_of(all.open.emplace_back(&variable));
}

const PerformanceVariable* variable_of(MPI_T_pvar_handle handle) noexcept {
  Handles& all = handles();
  const core::MutexLock lock(all.mutex);
  const auto found = std::ranges::find(all.open, handle, handle_of);
  return found == all.open.end() ? nullptr : *found;
}

void free_pvar_handle(MPI_T_pvar_handle handle) noexcept {
  Handles& all = handles();
  const core::MutexLock lock(all.mutex);
  const auto found = std::ranges::find(all.open, handle, handle_of);
  if (found != all.open.end()) all.open.erase(found);
}

}  // namespace fab::mpi
