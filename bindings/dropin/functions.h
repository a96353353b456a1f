// The functions of MPI's that libfab_dropin stands in for.
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <array>
#include <cstddef>
#include <string_view>

/// FAB_CARRIED(X): X(name in lower case, Name) for each collective.
#define FAB_CARRIED(X)                          \
  X(barrier, Barrier)                           \
  X(bcast, Bcast)                               \
  X(gather, Gather)                             \
  X(gatherv, Gatherv)                           \
  X(scatter, Scatter)                           \
  X(scatterv, Scatterv)                         \
  X(allgather, Allgather)                       \
  X(allgatherv, Allgatherv)                     \
  X(alltoall, Alltoall)                         \
  X(alltoallv, Alltoallv)                       \
  X(alltoallw, Alltoallw)                       \
  X(reduce, Reduce)                             \
  X(allreduce, Allreduce)                       \
  X(reduce_scatter, Reduce_scatter)             \
  X(reduce_scatter_block, Reduce_scatter_block) \
  X(scan, Scan)                                 \
  X(exscan, Exscan)                             \
  X(neighbor_allgather, Neighbor_allgather)     \
  X(neighbor_allgatherv, Neighbor_allgatherv)   \
  X(neighbor_alltoall, Neighbor_alltoall)       \
  X(neighbor_alltoallv, Neighbor_alltoallv)     \
  X(neighbor_alltoallw, Neighbor_alltoallw)

// Persistent collectives have the names that the MPI's header gives them: those of MPI-4 (also in Open MPI 5, which
// calls itself MPI-3.1), or Open MPI 4.1's.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define FAB_HAS_PERSISTENT 1
#define FAB_INIT(Name) MPI_##Name##_init
#define FAB_PINIT(Name) PMPI_##Name##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define FAB_HAS_PERSISTENT 1
#define FAB_INIT(Name) MPIX_##Name##_init
#define FAB_PINIT(Name) PMPIX_##Name##_init
#else
#define FAB_HAS_PERSISTENT 0
#endif

namespace fab::dropin {

enum class Function : unsigned char {
#define FAB_VALUE(name, Name) name,
  FAB_CARRIED(FAB_VALUE)
#undef FAB_VALUE
};

/// As FAB_DROPIN has them.
inline constexpr auto kFunctionNames = std::to_array<std::string_view>({
#define FAB_TEXT(name, Name) #name,
    FAB_CARRIED(FAB_TEXT)
#undef FAB_TEXT
});
inline constexpr std::size_t kFunctions = kFunctionNames.size();

[[nodiscard]] constexpr std::size_t index_of(Function function) noexcept { return static_cast<std::size_t>(function); }
[[nodiscard]] constexpr std::string_view name_of(Function function) noexcept {
  return kFunctionNames[index_of(function)];
}
[[nodiscard]] constexpr bool needs_topology(Function function) noexcept {
  return function >= Function::neighbor_allgather;
}

enum class Form : unsigned char { blocking, non_blocking, persistent };

struct Call {
  Function function;
  Form form;
  MPI_Comm comm;

  bool operator==(const Call&) const = default;
};

}  // namespace fab::dropin
