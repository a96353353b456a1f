// MPI's collectives along topologies, with the standard's order of blocks (MPI-4.1, section 8.6).
#include "bindings/dropin/define.h"
#include "bindings/mpi/calls/neighbor_collectives.h"

using fab::dropin::of_unknown_bytes;
namespace mpi = fab::mpi;

// A rank knows the sizes of its own edges. The standard makes all blocks of neighbor_alltoall equal, but programs with
// ranks that have no edge pass other counts there.

FAB_DEFINE(neighbor_allgather, Neighbor_allgather,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), of_unknown_bytes(),
           mpi::neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))

FAB_DEFINE(neighbor_allgatherv, Neighbor_allgatherv,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
            const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm), of_unknown_bytes(),
           mpi::neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype))

FAB_DEFINE(neighbor_alltoall, Neighbor_alltoall,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), of_unknown_bytes(),
           mpi::neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))

FAB_DEFINE(neighbor_alltoallv, Neighbor_alltoallv,
           (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
            const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), of_unknown_bytes(),
           mpi::neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype))

FAB_DEFINE(neighbor_alltoallw, Neighbor_alltoallw,
           (const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
            void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
            MPI_Comm comm),
           (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), of_unknown_bytes(),
           mpi::neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes))
