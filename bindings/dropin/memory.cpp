// MPI_Alloc_mem in fab's memory, which neighbours of a node copy once.
#include "fab/memory.h"

#include <mpi.h>

#include "bindings/dropin/next_calls.h"
#include "bindings/dropin/settings.h"
#include "fab/error.h"

namespace fab::dropin {

namespace {

/// Sizes that are wrong, and those for which fab has no memory, are MPI's matter.
int allocate(const NextCalls& next, MPI_Aint size, MPI_Info info, void* baseptr) noexcept {
  if (size <= 0 || baseptr == nullptr || settings().mode == Mode::off) return next.alloc_mem(size, info, baseptr);
  try {
    *static_cast<void**>(baseptr) = alloc(static_cast<std::size_t>(size));
    return MPI_SUCCESS;
  } catch (const std::exception&) {
    return next.alloc_mem(size, info, baseptr);
  }
}

/// What is not fab's is MPI's.
int release(const NextCalls& next, void* base) noexcept {
  if (base == nullptr) return next.free_mem(base);
  try {
    free(base);
    return MPI_SUCCESS;
  } catch (const std::exception&) {
    return next.free_mem(base);
  }
}

}  // namespace

}  // namespace fab::dropin

using namespace fab::dropin;

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) { return allocate(next_mpi_calls, size, info, baseptr); }
int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  return allocate(next_pmpi_calls, size, info, baseptr);
}
int MPI_Free_mem(void* base) { return release(next_mpi_calls, base); }
int PMPI_Free_mem(void* base) { return release(next_pmpi_calls, base); }
