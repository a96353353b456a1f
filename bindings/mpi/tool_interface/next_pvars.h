// MPI's functions of performance variables that fab takes over, and their next definitions (interception/next.h).
#pragma once

#include <mpi.h>

/// FAB_PVAR_CALLS(X): X(member of NextPvars, the name without its prefix) for each.
#define FAB_PVAR_CALLS(X)              \
  X(get_num, T_pvar_get_num)           \
  X(get_info, T_pvar_get_info)         \
  X(get_index, T_pvar_get_index)       \
  X(handle_alloc, T_pvar_handle_alloc) \
  X(handle_free, T_pvar_handle_free)   \
  X(start, T_pvar_start)               \
  X(stop, T_pvar_stop)                 \
  X(read, T_pvar_read)                 \
  X(write, T_pvar_write)               \
  X(reset, T_pvar_reset)               \
  X(readreset, T_pvar_readreset)       \
  X(get_category, T_category_get_pvars)

namespace fab::mpi {

struct NextPvars {
#define FAB_MEMBER(member, name) decltype(&::PMPI_##name) member;
  FAB_PVAR_CALLS(FAB_MEMBER)
#undef FAB_MEMBER
};

/// Those named MPI_T_...: a tool's or MPI's.
[[gnu::visibility("hidden")]] extern const NextPvars next_mpi_pvars;
/// Those named PMPI_T_...
[[gnu::visibility("hidden")]] extern const NextPvars next_pmpi_pvars;

}  // namespace fab::mpi
