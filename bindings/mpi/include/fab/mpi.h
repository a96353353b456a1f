/* Topological collectives with MPI names, carried by fab.
 *
 * The calls are those of "Topological Collectives for MPI-2" (Hoefler, Lorenzen, Gregor, Lumsdaine, 2008), on the
 * caller's own MPI communicators and datatypes. Link with libfab_mpi before the MPI library.
 *
 * Common to all calls
 *   - Return MPI_SUCCESS or an MPI error class; errors go through the error handler of `comm`.
 *   - Non-blocking forms return a real MPI_Request for MPI_Wait, MPI_Test and their kin, mixed with MPI's own.
 *   - Block i belongs to neighbor i as MPI_Comm_neighbors lists them. On a Cartesian communicator what leaves in
 *     direction +d arrives in the receiver's -d block. Directions that leave a non-periodic dimension have no block
 *     at all. On a distributed graph blocks go to the destinations and come from the sources, in their order.
 *   - sendbuf == MPI_IN_PLACE: the receive blocks are sent and replaced.
 *   - MPI_ERR_TOPOLOGY: no topology, or not the kind that the call needs. MPI_ERR_TRUNCATE: a neighbor sent more
 *     than its block here holds. MPI_ERR_OTHER: a neighbor sent less than its block here holds (MPI would take that,
 *     and leave the rest of the block as it was), was lost, or failed. MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_RANK,
 *     MPI_ERR_ARG, MPI_ERR_DIMS, MPI_ERR_BUFFER, MPI_ERR_COMM: a bad argument.
 */
#ifndef FAB_MPI_H
#define FAB_MPI_H

#include <fab/mpi_library.h>
#include <mpi.h>
#include <stddef.h> /* NOLINT(modernize-deprecated-headers): C programs include this */

#ifdef __cplusplus
extern "C" {
#endif

/* Sends sendcount elements to, and receives recvcount elements from, each neighbor (section 2.1). */
int MPI_Neighbor_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Ineighbor_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);

/* The same with a count and a displacement (in extents of the type) per neighbor (section 2.1). The count and
 * displacement arrays may be reused as soon as the call returns. */
int MPI_Neighbor_xchgv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                       void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                       MPI_Comm comm);
int MPI_Ineighbor_xchgv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm, MPI_Request *request);

/* An exchange with a count, a datatype and a displacement per neighbor, in the manner of MPI_Neighbor_alltoallw
 * (MPI-4.1, 8.6): the faces of a local array travel as subarray types, without packing. The arrays have an entry per
 * block, in the order of the blocks above; block i is counts[i] elements of types[i], displs[i] bytes from the buffer
 * on. From MPI_BOTTOM, displacements are addresses. All arrays may be reused, and types freed, as soon as the call
 * returns. The two ends of an edge must have the same number of bytes; their types may differ. Each type must be
 * committed, also where its count is 0. With MPI_IN_PLACE the three send arrays are ignored. */
int MPI_Neighbor_xchgw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                       const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                       const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPI_Ineighbor_xchgw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                        const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request);

/* Number and ranks of the neighbors of `rank` (section 2.2). At most maxneighbors ranks are written. On a
 * distributed graph only the calling rank may be asked about (otherwise MPI_ERR_RANK): its destinations. */
int MPI_Comm_neighbors_count(MPI_Comm comm, int rank, int *nneighbors);
int MPI_Comm_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]);

/* MPI_Cart_shift and the transfer in one (section 2.3). Without a source the receive buffer stays as it is. */
int MPI_Cart_shift_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                        MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm);
int MPI_Icart_shift_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                         MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, MPI_Request *request);

/* Persistent forms, in the manner of MPI-4.1, 6.13: all ranks of comm make theirs in the same order; MPI_Start and
 * MPI_Startall start them in any order, all completion calls work, MPI_Request_free ends them. Buffers are fixed, count
 * and displacement arrays may be reused. info is ignored. */
int MPI_Neighbor_xchg_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Neighbor_xchgv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Neighbor_xchgw_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                            MPI_Request *request);
int MPI_Cart_shift_xchg_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                             MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, MPI_Info info,
                             MPI_Request *request);

/* Memory for buffers (not of MPI): between ranks of a node what lies in it is copied once, without help of the kernel.
 * Aligned to 64 bytes, from 4096 bytes on to 4096. Before MPI_Init and after MPI_Finalize, too; thread-safe.
 * fab_alloc returns NULL when there is none; fab_free MPI_SUCCESS, or MPI_ERR_BASE for an address that is not of
 * fab_alloc. */
void *fab_alloc(size_t bytes);
int fab_free(void *memory);

int PMPI_Neighbor_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm);
int PMPI_Ineighbor_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                        MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
int PMPI_Neighbor_xchgv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm);
int PMPI_Ineighbor_xchgv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                         void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Request *request);
int PMPI_Neighbor_xchgw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                        const MPI_Datatype recvtypes[], MPI_Comm comm);
int PMPI_Ineighbor_xchgw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                         const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request);
int PMPI_Comm_neighbors_count(MPI_Comm comm, int rank, int *nneighbors);
int PMPI_Comm_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]);
int PMPI_Cart_shift_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                         MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm);
int PMPI_Icart_shift_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, MPI_Request *request);
int PMPI_Neighbor_xchg_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int PMPI_Neighbor_xchgv_init(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                             void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                             MPI_Comm comm, MPI_Info info, MPI_Request *request);
int PMPI_Neighbor_xchgw_init(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                             MPI_Request *request);
int PMPI_Cart_shift_xchg_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                              MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, MPI_Info info,
                              MPI_Request *request);

#ifdef __cplusplus
}
#endif

#endif
