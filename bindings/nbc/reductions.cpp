// The operations on one vector: barrier, broadcast, reductions.
#include "bindings/mpi/calls/reductions.h"

#include "bindings/nbc/instance.h"

using namespace fab::nbc;
namespace mpi = fab::mpi;

int NBC_Ibarrier(MPI_Comm comm, NBC_Handle* handle) { return begin("NBC_Ibarrier", comm, handle, mpi::barrier()); }

int NBC_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ibcast", comm, handle, mpi::bcast(buffer, count, datatype, root));
}

int NBC_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ireduce", comm, handle, mpi::reduce(sendbuf, recvbuf, count, datatype, op, root));
}

int NBC_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   NBC_Handle* handle) {
  return begin("NBC_Iallreduce", comm, handle, mpi::allreduce(sendbuf, recvbuf, count, datatype, op));
}

int NBC_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              NBC_Handle* handle) {
  return begin("NBC_Iscan", comm, handle, mpi::scan(sendbuf, recvbuf, count, datatype, op));
}

int NBC_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                NBC_Handle* handle) {
  return begin("NBC_Iexscan", comm, handle, mpi::exscan(sendbuf, recvbuf, count, datatype, op));
}

int NBC_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ireduce_scatter", comm, handle, mpi::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op));
}

int NBC_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, NBC_Handle* handle) {
  return begin("NBC_Ireduce_scatter_block", comm, handle,
               mpi::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op));
}
