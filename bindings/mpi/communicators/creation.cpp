// MPI's calls that make a communicator from another one: their results are dealt out to fab's engines. Duplicates are
// dealt out by an attribute (dealing.cpp), by whichever call they are made.
#include <mpi.h>

#include "bindings/mpi/communicators/dealing.h"
#include "bindings/mpi/interception/next.h"

namespace fab::mpi {

namespace {

/// `make` writes to `made`.
template <class Make>
int dealt_out(MPI_Comm parent, const MPI_Comm* made, Make&& make) noexcept {
  const int code = make();
  if (code == MPI_SUCCESS && made != nullptr) deal_made(parent, *made);
  return code;
}

int create_group(const NextMakers& next, MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  UncountedMaking making(comm);
  const int code = next.comm_create_group(comm, group, tag, made);
  if (code == MPI_SUCCESS && made != nullptr) making.undo(*made);
  return code;
}

}  // namespace

}  // namespace fab::mpi

using fab::mpi::dealt_out;

// Each has two names: FAB_MAKER(NAME, MEMBER, PARAMETERS, ARGUMENTS).
#define FAB_MAKER_OF(PREFIX, NEXT, NAME, MEMBER, PARAMETERS, ARGUMENTS)            \
  extern "C" int PREFIX##NAME PARAMETERS {                                         \
    return dealt_out(comm, made, [&] { return fab::mpi::NEXT.MEMBER ARGUMENTS; }); \
  }
#define FAB_MAKER(NAME, MEMBER, PARAMETERS, ARGUMENTS)                     \
  FAB_MAKER_OF(MPI_, next_mpi_makers, NAME, MEMBER, PARAMETERS, ARGUMENTS) \
  FAB_MAKER_OF(PMPI_, next_pmpi_makers, NAME, MEMBER, PARAMETERS, ARGUMENTS)

FAB_MAKER(Comm_split, comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made))
FAB_MAKER(Comm_split_type, comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made),
          (comm, type, key, info, made))
FAB_MAKER(Comm_create, comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made))
FAB_MAKER(Cart_create, cart_create,
          (MPI_Comm comm, int dimensions, const int extents[], const int periods[], int reorder, MPI_Comm* made),
          (comm, dimensions, extents, periods, reorder, made))
FAB_MAKER(Cart_sub, cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm* made), (comm, remain, made))
FAB_MAKER(Graph_create, graph_create,
          (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm* made),
          (comm, nodes, index, edges, reorder, made))
FAB_MAKER(Dist_graph_create, dist_graph_create,
          (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
           const int weights[], MPI_Info info, int reorder, MPI_Comm* made),
          (comm, n, sources, degrees, destinations, weights, info, reorder, made))
FAB_MAKER(Dist_graph_create_adjacent, dist_graph_create_adjacent,
          (MPI_Comm comm, int indegree, const int sources[], const int source_weights[], int outdegree,
           const int destinations[], const int destination_weights[], MPI_Info info, int reorder, MPI_Comm* made),
          (comm, indegree, sources, source_weights, outdegree, destinations, destination_weights, info, reorder, made))

extern "C" int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return fab::mpi::create_group(fab::mpi::next_mpi_makers, comm, group, tag, made);
}
extern "C" int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return fab::mpi::create_group(fab::mpi::next_pmpi_makers, comm, group, tag, made);
}

#undef FAB_MAKER
#undef FAB_MAKER_OF
