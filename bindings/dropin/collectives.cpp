// MPI's collectives on communicators without regard to topologies: barrier, broadcast, gathers, all-to-all, reductions.
#include "bindings/dropin/define.h"
#include "bindings/mpi/calls/alltoalls.h"
#include "bindings/mpi/calls/gathers.h"
#include "bindings/mpi/calls/reductions.h"

using fab::dropin::of_block;
using fab::dropin::of_blocks;
using fab::dropin::of_reduction;
using fab::dropin::of_unknown_bytes;
namespace mpi = fab::mpi;

// A barrier has no parameters before comm, which FAB_DEFINE handles like any others.
FAB_DEFINE(barrier, Barrier, (MPI_Comm comm), (comm), of_block(0, MPI_BYTE), mpi::barrier())

FAB_DEFINE(bcast, Bcast, (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm),
           (buffer, count, datatype, root, comm), of_block(count, datatype), mpi::bcast(buffer, count, datatype, root))

FAB_DEFINE(gather, Gather,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, int root, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
           of_blocks(sendbuf, sendcount, sendtype, recvcount, recvtype),
           mpi::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root))

FAB_DEFINE(gatherv, Gatherv,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
            const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm), of_unknown_bytes(),
           mpi::gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root))

FAB_DEFINE(scatter, Scatter,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, int root, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
           of_blocks(recvbuf, recvcount, recvtype, sendcount, sendtype),
           mpi::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root))

FAB_DEFINE(scatterv, Scatterv,
           (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
            int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
           (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm), of_unknown_bytes(),
           mpi::scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root))

FAB_DEFINE(allgather, Allgather,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), of_block(recvcount, recvtype),
           mpi::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))

FAB_DEFINE(allgatherv, Allgatherv,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
            const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm), of_unknown_bytes(),
           mpi::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype))

FAB_DEFINE(alltoall, Alltoall,
           (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
            MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm), of_block(recvcount, recvtype),
           mpi::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype))

FAB_DEFINE(alltoallv, Alltoallv,
           (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
            const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
           (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm), of_unknown_bytes(),
           mpi::alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype))

FAB_DEFINE(alltoallw, Alltoallw,
           (const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
            void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
           (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm), of_unknown_bytes(),
           mpi::alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes))

FAB_DEFINE(reduce, Reduce,
           (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm),
           (sendbuf, recvbuf, count, datatype, op, root, comm), of_reduction(count, datatype, op),
           mpi::reduce(sendbuf, recvbuf, count, datatype, op, root))

FAB_DEFINE(allreduce, Allreduce,
           (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
           (sendbuf, recvbuf, count, datatype, op, comm), of_reduction(count, datatype, op),
           mpi::allreduce(sendbuf, recvbuf, count, datatype, op))

// The sizes of all parts are the same on all ranks; the first one stands for them.
FAB_DEFINE(reduce_scatter, Reduce_scatter,
           (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
            MPI_Comm comm),
           (sendbuf, recvbuf, recvcounts, datatype, op, comm),
           of_reduction(recvcounts == nullptr ? 0 : recvcounts[0], datatype, op),
           mpi::reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op))

FAB_DEFINE(reduce_scatter_block, Reduce_scatter_block,
           (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
           (sendbuf, recvbuf, recvcount, datatype, op, comm), of_reduction(recvcount, datatype, op),
           mpi::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op))

FAB_DEFINE(scan, Scan, (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
           (sendbuf, recvbuf, count, datatype, op, comm), of_reduction(count, datatype, op),
           mpi::scan(sendbuf, recvbuf, count, datatype, op))

FAB_DEFINE(exscan, Exscan,
           (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
           (sendbuf, recvbuf, count, datatype, op, comm), of_reduction(count, datatype, op),
           mpi::exscan(sendbuf, recvbuf, count, datatype, op))
