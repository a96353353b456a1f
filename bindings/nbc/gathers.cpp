// Gather, scatter and allgather with their v-forms.
#include "bindings/mpi/calls/gathers.h"

#include "bindings/nbc/instance.h"

using namespace fab::nbc;
namespace mpi = fab::mpi;

int NBC_Igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Igather", comm, handle,
               mpi::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root));
}

int NBC_Igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Igatherv", comm, handle,
               mpi::gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root));
}

int NBC_Iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Iscatter", comm, handle,
               mpi::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root));
}

int NBC_Iscatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Iscatterv", comm, handle,
               mpi::scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root));
}

int NBC_Iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Iallgather", comm, handle,
               mpi::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}

int NBC_Iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Iallgatherv", comm, handle,
               mpi::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype));
}
