// All-to-all exchanges.
#include "bindings/mpi/calls/alltoalls.h"
#include "bindings/nbc/instance.h"

using namespace fab::nbc;
namespace mpi = fab::mpi;

int NBC_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ialltoall", comm, handle,
               mpi::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}

int NBC_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                   NBC_Handle* handle) {
  return begin("NBC_Ialltoallv", comm, handle,
               mpi::alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype));
}

int NBC_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ialltoallw", comm, handle,
               mpi::alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes));
}
