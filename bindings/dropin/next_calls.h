// The functions to which libfab_dropin passes calls on: those of a tool behind it, or MPI's own.
#pragma once

#include <mpi.h>

#include "bindings/dropin/functions.h"

namespace fab::dropin {

struct NextCalls {
#define FAB_MEMBERS(name, Name)  \
  decltype(&::PMPI_##Name) name; \
  decltype(&::PMPI_I##name) i##name;
  FAB_CARRIED(FAB_MEMBERS)
#undef FAB_MEMBERS
#if FAB_HAS_PERSISTENT
#define FAB_MEMBER(name, Name) decltype(&FAB_PINIT(Name)) name##_init;
  FAB_CARRIED(FAB_MEMBER)
#undef FAB_MEMBER
#endif
  decltype(&::PMPI_Alloc_mem) alloc_mem;
  decltype(&::PMPI_Free_mem) free_mem;
  decltype(&::PMPI_Finalize) finalize;
};

/// Those named MPI_..., set when the library is loaded.
[[gnu::visibility("hidden")]] extern const NextCalls next_mpi_calls;
/// Those named PMPI_...
[[gnu::visibility("hidden")]] extern const NextCalls next_pmpi_calls;

}  // namespace fab::dropin
