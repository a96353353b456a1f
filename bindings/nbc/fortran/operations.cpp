// The operations for Fortran programs. Arguments: see nbcf.h.
#include <vector>

#include "bindings/mpi/communicators/intra_communicator.h"
#include "bindings/nbc/fortran/arguments.h"

using namespace fab::nbc;

namespace {

std::vector<MPI_Datatype> types_of(const MPI_Fint* types, std::size_t count) {
  std::vector<MPI_Datatype> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(type_of(&types[i]));
  return result;
}

/// Throws as the call does that they are for.
std::size_t ranks_of(const MPI_Fint* comm) {
  fab::mpi::check_communicator(comm_of(comm));
  int ranks = 0;
  fab::mpi::require(PMPI_Comm_size(comm_of(comm), &ranks), "MPI_Comm_size");
  return static_cast<std::size_t>(ranks);
}

int* weights_of(int* weights) noexcept {
  return static_cast<void*>(weights) == &mpi_fortran_unweighted_ ? nullptr : weights;
}

}  // namespace

extern "C" {

void nbc_ibarrier_(MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) { return NBC_Ibarrier(comm_of(comm), to); });
}

void nbc_ibcast_(void* buffer, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* handle,
                 MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ibcast(buffer_of(buffer), *count, type_of(datatype), *root, comm_of(comm), to);
  });
}

void nbc_ireduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* root,
                  MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ireduce(buffer_of(sendbuf), buffer_of(recvbuf), *count, type_of(datatype), op_of(op), *root,
                       comm_of(comm), to);
  });
}

void nbc_iallreduce_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                     MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Iallreduce(buffer_of(sendbuf), buffer_of(recvbuf), *count, type_of(datatype), op_of(op), comm_of(comm),
                          to);
  });
}

void nbc_ireduce_scatter_(void* sendbuf, void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* datatype, MPI_Fint* op,
                          MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ireduce_scatter(buffer_of(sendbuf), buffer_of(recvbuf), recvcounts, type_of(datatype), op_of(op),
                               comm_of(comm), to);
  });
}

void nbc_ireduce_scatter_block_(void* sendbuf, void* recvbuf, MPI_Fint* recvcount, MPI_Fint* datatype, MPI_Fint* op,
                                MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ireduce_scatter_block(buffer_of(sendbuf), buffer_of(recvbuf), *recvcount, type_of(datatype), op_of(op),
                                     comm_of(comm), to);
  });
}

void nbc_iscan_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Iscan(buffer_of(sendbuf), buffer_of(recvbuf), *count, type_of(datatype), op_of(op), comm_of(comm), to);
  });
}

void nbc_iexscan_(void* sendbuf, void* recvbuf, MPI_Fint* count, MPI_Fint* datatype, MPI_Fint* op, MPI_Fint* comm,
                  MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Iexscan(buffer_of(sendbuf), buffer_of(recvbuf), *count, type_of(datatype), op_of(op), comm_of(comm), to);
  });
}

void nbc_igather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                  MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Igather(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                       type_of(recvtype), *root, comm_of(comm), to);
  });
}

void nbc_igatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                   MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* handle,
                   MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Igatherv(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), recvcounts, rdispls,
                        type_of(recvtype), *root, comm_of(comm), to);
  });
}

void nbc_iscatter_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                   MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Iscatter(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                        type_of(recvtype), *root, comm_of(comm), to);
  });
}

void nbc_iscatterv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                    MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* root, MPI_Fint* comm, MPI_Fint* handle,
                    MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Iscatterv(buffer_of(sendbuf), sendcounts, sdispls, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                         type_of(recvtype), *root, comm_of(comm), to);
  });
}

void nbc_iallgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                     MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Iallgather(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                          type_of(recvtype), comm_of(comm), to);
  });
}

void nbc_iallgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcounts,
                      MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Iallgatherv(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), recvcounts, rdispls,
                           type_of(recvtype), comm_of(comm), to);
  });
}

void nbc_ialltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                    MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ialltoall(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                         type_of(recvtype), comm_of(comm), to);
  });
}

void nbc_ialltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                     MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* handle,
                     MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ialltoallv(buffer_of(sendbuf), sendcounts, sdispls, type_of(sendtype), buffer_of(recvbuf), recvcounts,
                          rdispls, type_of(recvtype), comm_of(comm), to);
  });
}

void nbc_ineighbor_xchg_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                         MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ineighbor_xchg(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                              type_of(recvtype), comm_of(comm), to);
  });
}

void nbc_ineighbor_xchgv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                          MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* handle,
                          MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ineighbor_xchgv(buffer_of(sendbuf), sendcounts, sdispls, type_of(sendtype), buffer_of(recvbuf),
                               recvcounts, rdispls, type_of(recvtype), comm_of(comm), to);
  });
}

void nbc_icart_shift_xchg_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                           MPI_Fint* recvtype, MPI_Fint* direction, MPI_Fint* disp, MPI_Fint* comm, MPI_Fint* handle,
                           MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Icart_shift_xchg(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                                type_of(recvtype), *direction, *disp, comm_of(comm), to);
  });
}

void nbc_ineighbor_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* handle,
                              MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ineighbor_allgather(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                                   type_of(recvtype), comm_of(comm), to);
  });
}

void nbc_ineighbor_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                               MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                               MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ineighbor_allgatherv(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), recvcounts,
                                    rdispls, type_of(recvtype), comm_of(comm), to);
  });
}

void nbc_ineighbor_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                             MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ineighbor_alltoall(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                                  type_of(recvtype), comm_of(comm), to);
  });
}

void nbc_ineighbor_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                              MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    return NBC_Ineighbor_alltoallv(buffer_of(sendbuf), sendcounts, sdispls, type_of(sendtype), buffer_of(recvbuf),
                                   recvcounts, rdispls, type_of(recvtype), comm_of(comm), to);
  });
}

void nbc_ialltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                     MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm, MPI_Fint* handle,
                     MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    const bool in_place = buffer_of(sendbuf) == MPI_IN_PLACE;
    const auto into = types_of(recvtypes, ranks_of(comm));
    const auto from = in_place ? into : types_of(sendtypes, into.size());
    return NBC_Ialltoallw(buffer_of(sendbuf), sendcounts, sdispls, from.data(), buffer_of(recvbuf), recvcounts, rdispls,
                          into.data(), comm_of(comm), to);
  });
}

void nbc_ineighbor_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Aint* sdispls, MPI_Fint* sendtypes,
                              void* recvbuf, MPI_Fint* recvcounts, MPI_Aint* rdispls, MPI_Fint* recvtypes,
                              MPI_Fint* comm, MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = start_for_fortran(handle, [&](NBC_Handle* to) {
    int in = 0;
    int out = 0;
    int weighted = 0;
    if (const int code = NBC_Comm_neighbors_count(comm_of(comm), &in, &out, &weighted); code != NBC_OK) return code;
    const auto from = types_of(sendtypes, static_cast<std::size_t>(out));
    const auto into = types_of(recvtypes, static_cast<std::size_t>(in));
    return NBC_Ineighbor_alltoallw(buffer_of(sendbuf), sendcounts, sdispls, from.data(), buffer_of(recvbuf), recvcounts,
                                   rdispls, into.data(), comm_of(comm), to);
  });
}

void nbc_comm_neighbors_count_(MPI_Fint* comm, MPI_Fint* indegree, MPI_Fint* outdegree, MPI_Fint* weighted,
                               MPI_Fint* ierror) {
  *ierror = NBC_Comm_neighbors_count(comm_of(comm), indegree, outdegree, weighted);
}

void nbc_comm_neighbors_(MPI_Fint* comm, MPI_Fint* maxindegree, MPI_Fint* sources, MPI_Fint* sourceweights,
                         MPI_Fint* maxoutdegree, MPI_Fint* destinations, MPI_Fint* destweights, MPI_Fint* ierror) {
  *ierror = NBC_Comm_neighbors(comm_of(comm), *maxindegree, sources, weights_of(sourceweights), *maxoutdegree,
                               destinations, weights_of(destweights));
}

}  // extern "C"
