// MPI_NEIGHBOR_XCHGW for Fortran programs. Arguments: see fabf.h.
#include <vector>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/handles.h"
#include "bindings/mpi/communicators/topology.h"
#include "bindings/mpi/fortran/arguments.h"
#include "bindings/mpi/fortran/section.h"
#include "fab/mpi.h"

namespace fab::mpi {

namespace {

struct Degrees {
  std::size_t in = 0;
  std::size_t out = 0;
};

Degrees degrees_on_distributed_graph(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  require(PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted), "MPI_Dist_graph_neighbors_count");
  return {static_cast<std::size_t>(in), static_cast<std::size_t>(out)};
}

/// So many handles are in the arrays of types. None where comm is wrong: the call itself says so, and reads no array.
Degrees degrees_of(MPI_Comm comm) noexcept try {
  if (!mpi_is_usable() || !is_communicator(comm)) return {};
  int kind = MPI_UNDEFINED;
  int inter = 0;
  int rank = 0;
  require(PMPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0) return {};
  require(PMPI_Topo_test(comm, &kind), "MPI_Topo_test");
  if (kind == MPI_UNDEFINED) return {};
  if (kind == MPI_DIST_GRAPH) return degrees_on_distributed_graph(comm);
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const std::size_t neighbors = neighbors_of(comm, rank).size();
  return {neighbors, neighbors};
} catch (...) {
  return {};
}

std::vector<MPI_Datatype> handles_of(const MPI_Fint* types, std::size_t count) {
  std::vector<MPI_Datatype> handles;
  for (std::size_t i = 0; i < count; ++i) handles.push_back(type_of(&types[i]));
  return handles;
}

/// The arrays of types of a call, as C's. The arrays of the sending side are ignored where it is in place.
struct Types {
  Types(const void* sendbuf, const MPI_Fint* sendtypes, const MPI_Fint* recvtypes, MPI_Comm comm) {
    const Degrees degrees = degrees_of(comm);
    if (sendbuf != MPI_IN_PLACE) send = handles_of(sendtypes, degrees.out);
    recv = handles_of(recvtypes, degrees.in);
  }

  std::vector<MPI_Datatype> send;
  std::vector<MPI_Datatype> recv;
};

/// `call` gets the types and returns the code of the call `name`.
template <class Call>
int with_types(const char* name, const void* sendbuf, const MPI_Fint* sendtypes, const MPI_Fint* recvtypes,
               MPI_Comm comm, Call&& call) noexcept {
  try {
    return call(Types(sendbuf, sendtypes, recvtypes, comm));
  } catch (...) {
    return report_exception(name, comm);
  }
}

}  // namespace

}  // namespace fab::mpi

using namespace fab::mpi;

extern "C" {

void pmpi_neighbor_xchgw_(void* sendbuf, const MPI_Fint* sendcounts, const MPI_Aint* sdispls, const MPI_Fint* sendtypes,
                          void* recvbuf, const MPI_Fint* recvcounts, const MPI_Aint* rdispls, const MPI_Fint* recvtypes,
                          const MPI_Fint* comm, MPI_Fint* ierror) {
  void* const from = buffer_of(sendbuf);
  const auto exchange = [&](const Types& types) {
    return PMPI_Neighbor_xchgw(from, sendcounts, sdispls, types.send.data(), buffer_of(recvbuf), recvcounts, rdispls,
                               types.recv.data(), comm_of(comm));
  };
  give_code(ierror, with_types("MPI_Neighbor_xchgw", from, sendtypes, recvtypes, comm_of(comm), exchange));
}

void pmpi_ineighbor_xchgw_(void* sendbuf, const MPI_Fint* sendcounts, const MPI_Aint* sdispls,
                           const MPI_Fint* sendtypes, void* recvbuf, const MPI_Fint* recvcounts,
                           const MPI_Aint* rdispls, const MPI_Fint* recvtypes, const MPI_Fint* comm, MPI_Fint* request,
                           MPI_Fint* ierror) {
  void* const from = buffer_of(sendbuf);
  give_request(request, ierror, [&](MPI_Request* to) {
    const auto make = [&](const Types& types) {
      return PMPI_Ineighbor_xchgw(from, sendcounts, sdispls, types.send.data(), buffer_of(recvbuf), recvcounts, rdispls,
                                  types.recv.data(), comm_of(comm), to);
    };
    return with_types("MPI_Ineighbor_xchgw", from, sendtypes, recvtypes, comm_of(comm), make);
  });
}

void pmpi_neighbor_xchgw_init_(void* sendbuf, const MPI_Fint* sendcounts, const MPI_Aint* sdispls,
                               const MPI_Fint* sendtypes, void* recvbuf, const MPI_Fint* recvcounts,
                               const MPI_Aint* rdispls, const MPI_Fint* recvtypes, const MPI_Fint* comm,
                               const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {
  void* const from = buffer_of(sendbuf);
  give_request(request, ierror, [&](MPI_Request* to) {
    const auto make = [&](const Types& types) {
      return PMPI_Neighbor_xchgw_init(from, sendcounts, sdispls, types.send.data(), buffer_of(recvbuf), recvcounts,
                                      rdispls, types.recv.data(), comm_of(comm), MPI_Info_f2c(*info), to);
    };
    return with_types("MPI_Neighbor_xchgw_init", from, sendtypes, recvtypes, comm_of(comm), make);
  });
}

// From the modules.
void mpi_ineighbor_xchgw_fts_(const Section* sendbuf, const MPI_Fint* sendcounts, const MPI_Aint* sdispls,
                              const MPI_Fint* sendtypes, const Section* recvbuf, const MPI_Fint* recvcounts,
                              const MPI_Aint* rdispls, const MPI_Fint* recvtypes, const MPI_Fint* comm,
                              MPI_Fint* request, MPI_Fint* ierror) {
  if (const char* wrong = in_pieces(*sendbuf, *recvbuf))
    return give_request(request, ierror,
                        [&](MPI_Request* to) { return refuse_start("MPI_Ineighbor_xchgw", wrong, comm_of(comm), to); });
  pmpi_ineighbor_xchgw_(sendbuf->address, sendcounts, sdispls, sendtypes, recvbuf->address, recvcounts, rdispls,
                        recvtypes, comm, request, ierror);
}

void mpi_neighbor_xchgw_init_fts_(const Section* sendbuf, const MPI_Fint* sendcounts, const MPI_Aint* sdispls,
                                  const MPI_Fint* sendtypes, const Section* recvbuf, const MPI_Fint* recvcounts,
                                  const MPI_Aint* rdispls, const MPI_Fint* recvtypes, const MPI_Fint* comm,
                                  const MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierror) {
  if (const char* wrong = in_pieces(*sendbuf, *recvbuf))
    return give_request(request, ierror, [&](MPI_Request* to) {
      return refuse_init("MPI_Neighbor_xchgw_init", wrong, comm_of(comm), to);
    });
  pmpi_neighbor_xchgw_init_(sendbuf->address, sendcounts, sdispls, sendtypes, recvbuf->address, recvcounts, rdispls,
                            recvtypes, comm, info, request, ierror);
}

decltype(pmpi_neighbor_xchgw_) mpi_neighbor_xchgw_ FAB_FORTRAN_PROFILED(mpi_neighbor_xchgw_);
decltype(pmpi_ineighbor_xchgw_) mpi_ineighbor_xchgw_ FAB_FORTRAN_PROFILED(mpi_ineighbor_xchgw_);
decltype(pmpi_neighbor_xchgw_init_) mpi_neighbor_xchgw_init_ FAB_FORTRAN_PROFILED(mpi_neighbor_xchgw_init_);

decltype(pmpi_neighbor_xchgw_) mpi_neighbor_xchgw_f08_ FAB_FORTRAN_ALIAS(pmpi_neighbor_xchgw_);
decltype(mpi_ineighbor_xchgw_fts_) mpi_ineighbor_xchgw_f08ts_ FAB_FORTRAN_ALIAS(mpi_ineighbor_xchgw_fts_);
decltype(mpi_neighbor_xchgw_init_fts_) mpi_neighbor_xchgw_init_f08ts_ FAB_FORTRAN_ALIAS(mpi_neighbor_xchgw_init_fts_);

}  // extern "C"
