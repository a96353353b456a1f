/* Topological collectives under MPI names, implemented by fab.
 *
 * The calls are those of "Topological Collectives for MPI-2" (Hoefler, Lorenzen, Gregor, Lumsdaine, 2008), on the
 * caller's own MPI communicators and datatypes. Link with libfab_mpi before the MPI library.
 *
 * Common to all calls
 *   - The calls return MPI_SUCCESS or an MPI error class. Errors go through the error handler of `comm`.
 *   - Non-blocking forms return an MPI_Request that MPI_Wait, MPI_Test and MPI's other completion calls accept, also
 *     together with requests of MPI's own.
 *   - Block i belongs to neighbor i in the order of MPI_Comm_neighbors. On a Cartesian communicator a block that leaves
 *     in direction +d arrives in the receiver's -d block. Directions that leave a non-periodic dimension have no block.
 *     On a distributed graph blocks go to the destinations and come from the sources, in their order.
 *   - sendbuf == MPI_IN_PLACE: the receive blocks are sent and replaced.
 *   - Counts and displacements are int, as in MPI-3.1. The displacements of MPI_Neighbor_xchgw are MPI_Aint, as those
 *     of MPI_Neighbor_alltoallw are. There are no _c forms, which take an MPI_Count.
 *   - MPI_ERR_TOPOLOGY: no topology, or not the kind that the call needs. MPI_ERR_TRUNCATE: a neighbor sent more bytes
 *     than its block here holds. MPI_ERR_OTHER: a neighbor sent fewer bytes than its block here holds (MPI would accept
 *     that and leave the rest of the block unchanged), was lost, or failed. MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_RANK,
 *     MPI_ERR_ARG, MPI_ERR_DIMS, MPI_ERR_BUFFER, MPI_ERR_COMM: an invalid argument.
 */
#ifndef FAB_MPI_H
#define FAB_MPI_H

#include <fab/mpi_library.h>
#include <mpi.h>
#include <stddef.h> /* NOLINT(modernize-deprecated-headers): C programs include this */

#ifdef __cplusplus
extern "C" {
#endif

/* @{ */
/* Sends sendcount elements to, and receives recvcount elements from, each neighbor (section 2.1). */
int MPI_Neighbor_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Ineighbor_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request);
/* @} */

/* @{ */
/* MPI_Neighbor_xchg with a count and a displacement (in extents of the type) per neighbor (section 2.1). The caller may
 * reuse the count and displacement arrays as soon as the call returns. */
int MPI_Neighbor_xchgv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                       void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                       MPI_Comm comm);
int MPI_Ineighbor_xchgv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm, MPI_Request *request);
/* @} */

/* @{ */
/* An exchange with a count, a datatype and a displacement per neighbor, in the manner of MPI_Neighbor_alltoallw
 * (MPI-4.1, 8.6): the faces of a local array are sent as subarray types, without packing. The arrays have one entry per
 * block, in the order of the blocks above. Block i is counts[i] elements of types[i], displs[i] bytes from the address
 * of the buffer; with MPI_BOTTOM, displacements are addresses. The caller may reuse all arrays and free the types as
 * soon as the call returns. Both ends of an edge must give the same number of bytes; their types may differ. Each type
 * must be committed, even if its count is 0. With MPI_IN_PLACE the three send arrays are ignored. */
int MPI_Neighbor_xchgw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                       const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                       const MPI_Datatype recvtypes[], MPI_Comm comm);
int MPI_Ineighbor_xchgw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                        const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request);
/* @} */

/* @{ */
/* The number and the ranks of the neighbors of `rank` (section 2.2). At most maxneighbors ranks are written. On a
 * distributed graph `rank` must be the calling rank (otherwise MPI_ERR_RANK); the neighbors are its destinations. */
int MPI_Comm_neighbors_count(MPI_Comm comm, int rank, int *nneighbors);
int MPI_Comm_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]);
/* @} */

/* @{ */
/* MPI_Cart_shift and the transfer in one (section 2.3). If a rank has no source, its receive buffer stays as it is. */
int MPI_Cart_shift_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                        MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm);
int MPI_Icart_shift_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                         MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, MPI_Request *request);
/* @} */

/* @{ */
/* Persistent forms, in the manner of MPI-4.1, 6.13. All ranks of comm make theirs in the same order. MPI_Start and
 * MPI_Startall start them in any order, all completion calls of MPI accept them, and MPI_Request_free frees them. The
 * buffers are fixed; the caller may reuse count and displacement arrays. info is ignored. */
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
/* @} */

/* @{ */
/* An exchange whose blocks consist of partitions, in the manner of MPI-4.1, chapter 4. Each block has `partitions` of
 * them, one behind the other; sendcount and recvcount are elements of one partition. Both ends of an edge must give the
 * same number of partitions and of bytes; otherwise MPI_Pneighbor_xchg_init fails on both (MPI_ERR_OTHER), for
 * which it waits for the neighbors. MPI_IN_PLACE is not allowed.
 *
 * MPI_Start sends nothing. Threads mark partitions: MPI_Neighbor_pready says that this partition of the block for
 * destination number `destination` may be sent, and must not be written until the exchange is complete.
 * MPI_Neighbor_parrived sets *flag to 1 if this partition of the block from source number `source` has arrived, or if
 * the exchange is not active. Partitions with less than 16 KiB together leave together. The exchange is complete
 * (MPI_Wait) when all partitions have been marked, sent and received. Both calls are thread-safe between MPI_Start and
 * that; fab asks for no thread support of MPI's for them. They return MPI_ERR_REQUEST for another request, and
 * MPI_ERR_ARG for a neighbor or partition that there is not, or one that is marked twice. */
int MPI_Pneighbor_xchg_init(const void *sendbuf, int partitions, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                            int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int MPI_Neighbor_pready(int destination, int partition, MPI_Request request);
int MPI_Neighbor_parrived(MPI_Request request, int source, int partition, int *flag);
/* @} */

/* @{ */
/* Memory for buffers (no MPI calls). Between ranks of one node the receiver copies data in such memory once, without
 * help of the kernel. It is aligned to 64 bytes, or to 4096 if `bytes` >= 4096. Both calls also work before MPI_Init
 * and after MPI_Finalize, and are thread-safe. fab_alloc returns NULL if there is no memory. fab_free returns
 * MPI_SUCCESS, or MPI_ERR_BASE for an address that fab_alloc did not return. */
void *fab_alloc(size_t bytes);
int fab_free(void *memory);
/* @} */

/* @{ */
/* The call without the P, under the name of MPI's profiling interface. A tool that replaces the call finds fab's here.
 */
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
int PMPI_Pneighbor_xchg_init(const void *sendbuf, int partitions, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request);
int PMPI_Neighbor_pready(int destination, int partition, MPI_Request request);
int PMPI_Neighbor_parrived(MPI_Request request, int source, int partition, int *flag);
/* @} */

#ifdef __cplusplus
}
#endif

#endif
