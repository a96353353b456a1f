// The functions of MPI's that fab takes over, and the definitions that had their names before: a tool's, or MPI's.
//
// libfab_mpi defines each of them twice, as MPI_Wait and as PMPI_Wait: programs call the first, tools and MPI's Fortran
// interfaces the second. A call that is none of fab's business goes on to the next definition of the same name, so that
// a tool behind fab sees it, too. So fab itself never calls these by their names, but here.
#pragma once

#include <mpi.h>

/// FAB_TAKEN_OVER(X): X(member of Next, the name without its prefix) for each.
#define FAB_TAKEN_OVER(X)           \
  X(wait, Wait)                     \
  X(test, Test)                     \
  X(waitall, Waitall)               \
  X(testall, Testall)               \
  X(waitany, Waitany)               \
  X(testany, Testany)               \
  X(waitsome, Waitsome)             \
  X(testsome, Testsome)             \
  X(get_status, Request_get_status) \
  X(request_free, Request_free)     \
  X(cancel, Cancel)                 \
  X(start, Start)                   \
  X(startall, Startall)             \
  X(op_free, Op_free)

namespace fab::mpi {

/// The next definitions behind those of libfab_mpi.
struct Next {
#define FAB_MEMBER(member, name) decltype(&::PMPI_##name) member;
  FAB_TAKEN_OVER(FAB_MEMBER)
#undef FAB_MEMBER
};

// Set when the library is loaded; each of fab's libraries has its own, so these symbols are hidden. One that cannot be
// found says so in the log when it is called, and returns an error.
/// Those named MPI_...: a tool's or MPI's.
[[gnu::visibility("hidden")]] extern const Next next_mpi;
/// Those named PMPI_...: what fab calls for itself.
[[gnu::visibility("hidden")]] extern const Next next_pmpi;
// MPI's PMPI_ functions of collectives that libfab_dropin defines, too.
[[gnu::visibility("hidden")]] extern const decltype(&::PMPI_Ibcast) next_ibcast;
[[gnu::visibility("hidden")]] extern const decltype(&::PMPI_Ibarrier) next_ibarrier;
[[gnu::visibility("hidden")]] extern const decltype(&::PMPI_Bcast) next_bcast;
[[gnu::visibility("hidden")]] extern const decltype(&::PMPI_Allreduce) next_allreduce;

/// How MPI is initialized. Apart from the others, for a process may be without these: fab then comes into it later.
struct NextInit {
  decltype(&::PMPI_Init) init;
  decltype(&::PMPI_Init_thread) init_thread;
};
[[gnu::visibility("hidden")]] extern const NextInit next_mpi_init;
[[gnu::visibility("hidden")]] extern const NextInit next_pmpi_init;

/// FAB_MAKERS(X): those that make a communicator from another one, but for duplicates.
#define FAB_MAKERS(X)                     \
  X(comm_split, Comm_split)               \
  X(comm_split_type, Comm_split_type)     \
  X(comm_create_group, Comm_create_group) \
  X(comm_create, Comm_create)             \
  X(cart_create, Cart_create)             \
  X(cart_sub, Cart_sub)                   \
  X(graph_create, Graph_create)           \
  X(dist_graph_create, Dist_graph_create) \
  X(dist_graph_create_adjacent, Dist_graph_create_adjacent)

/// Apart from the others, since fab does no work of its own in them.
struct NextMakers {
#define FAB_MEMBER(member, name) decltype(&::PMPI_##name) member;
  FAB_MAKERS(FAB_MEMBER)
#undef FAB_MEMBER
};
[[gnu::visibility("hidden")]] extern const NextMakers next_mpi_makers;
[[gnu::visibility("hidden")]] extern const NextMakers next_pmpi_makers;

}  // namespace fab::mpi
