/* Non-blocking collective operations under the names of LibNBC, carried by fab. For C (C99 on) and C++.
 *
 * The calls are those of "Design, Implementation, and Usage of LibNBC" (Hoefler and Lumsdaine, 2006; "the document"
 * below) and of the library's 1.x releases, on the caller's own MPI communicators, datatypes and operations. Link with
 * libfab_mpi before the MPI library. docs/reference/nbc.md tells the differences.
 *
 * Common to all calls
 *   - Return NBC_OK or another code below. What came back from the network broken (a lost peer, more data than was
 *     declared) is an MPI error class above these codes: MPI_ERR_OTHER, MPI_ERR_TRUNCATE. fab's log says more
 *     (FAB_LOG). The communicator's MPI error handler is not called.
 *   - All ranks of a communicator start its operations in the same order. They have nothing to do with MPI's own
 *     operations on it, which may be mixed in freely, nor with fab's exchanges under MPI's names.
 *   - What starts an operation returns at once, and the operation goes on by itself; buffers are fab's until it is
 *     complete. Reductions with an operation of MPI_Op_create go on while some thread waits or tests.
 *   - MPI_IN_PLACE where MPI's call of that name has it, in NBC_Ineighbor_xchg and its kin as sendbuf; derived
 *     datatypes; null where there is no data; MPI_BOTTOM with types or, in the w-forms, displacements that are
 *     addresses. Arguments that MPI takes note of at the root only are looked at there.
 *     Arrays of counts, displacements and types may be reused at once; types and operations may be freed.
 */
#ifndef FAB_NBC_H
#define FAB_NBC_H

#include <fab/mpi_library.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NBC_OK 0                     /* complete, or nothing was wrong */
#define NBC_SUCCESS 0                /* the same */
#define NBC_OOR 1                    /* out of resources */
#define NBC_BAD_SCHED 2              /* a schedule that is none, is not committed, or cannot be carried out */
#define NBC_CONTINUE 3               /* not complete yet */
#define NBC_DATATYPE_NOT_SUPPORTED 4 /* no datatype, or one that is not committed */
#define NBC_OP_NOT_SUPPORTED 5       /* no operation, or one that is not defined on the datatype */
#define NBC_NOT_IMPLEMENTED 6        /* never returned */
#define NBC_INVALID_PARAM 7          /* any other bad argument */
#define NBC_INVALID_TOPOLOGY_COMM 8  /* the communicator does not have the topology that the call needs */

/* The name for the linker. Open MPI's own progress of collectives (its module coll/libnbc) descends from LibNBC, has
 * functions of these names, and must not find others here. */
#define FAB_NBC(name) __asm__("fab_" #name)

/* An operation in flight. The user owns it: it needs no preparation, stays where it is until the operation is complete,
 * and may then serve again. One of zero bytes only is complete. */
typedef struct NBC_Handle {
  void *tmpbuf; /* of operations started by NBC_Start: memory of malloc that is freed at completion, or NULL */
  int fab_active;
  void *fab_memory[6];
} NBC_Handle;

/* ---- Operations: the arguments are those of MPI's calls without the I. */

int NBC_Ibarrier(MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ibarrier);
int NBC_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, NBC_Handle *handle)
    FAB_NBC(NBC_Ibcast);
int NBC_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ireduce);
int NBC_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   NBC_Handle *handle) FAB_NBC(NBC_Iallreduce);
int NBC_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ireduce_scatter);
int NBC_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ireduce_scatter_block);
int NBC_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
              NBC_Handle *handle) FAB_NBC(NBC_Iscan);
int NBC_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                NBC_Handle *handle) FAB_NBC(NBC_Iexscan);

int NBC_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Igather);
int NBC_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                 const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle *handle)
    FAB_NBC(NBC_Igatherv);
int NBC_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Iscatter);
int NBC_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, NBC_Handle *handle)
    FAB_NBC(NBC_Iscatterv);
int NBC_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Iallgather);
int NBC_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int displs[], MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle *handle)
    FAB_NBC(NBC_Iallgatherv);

int NBC_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ialltoall);
int NBC_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                   NBC_Handle *handle) FAB_NBC(NBC_Ialltoallv);
int NBC_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                   void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                   MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ialltoallw);

/* ---- Operations along a topology. Blocks are in the order of NBC_Comm_neighbors, whose MPI_PROC_NULL entries have a
 * block each, which nothing is sent from and nothing is written to. What leaves a Cartesian neighbourhood in one
 * direction arrives from the other. */

int NBC_Ineighbor_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ineighbor_xchg);
int NBC_Ineighbor_xchgv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ineighbor_xchgv);
/* MPI_Cart_shift and the transfer in one. Without a source the receive buffer stays as it is. */
int NBC_Icart_shift_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                         MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, NBC_Handle *handle)
    FAB_NBC(NBC_Icart_shift_xchg);
/* MPI-3's. */
int NBC_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                            MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ineighbor_allgather);
int NBC_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                             const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                             NBC_Handle *handle) FAB_NBC(NBC_Ineighbor_allgatherv);
int NBC_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ineighbor_alltoall);
int NBC_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ineighbor_alltoallv);
int NBC_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, NBC_Handle *handle)
    FAB_NBC(NBC_Ineighbor_alltoallw);

/* The calling rank's neighbours; local. Of a Cartesian communicator two a dimension, at displacement -1, then +1;
 * MPI_PROC_NULL beyond a border. *weighted is 1 for distributed graphs with weights. */
int NBC_Comm_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
    FAB_NBC(NBC_Comm_neighbors_count);
/* NBC_INVALID_PARAM where there is no room for all. Weights are written for distributed graphs only; either array of
 * weights may be MPI_UNWEIGHTED. */
int NBC_Comm_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                       int destinations[], int destweights[]) FAB_NBC(NBC_Comm_neighbors);

/* ---- Completion. A call that tells an operation's end tells its code, too, and frees what the handle holds. */

/* Returns when the operation is complete. NBC_Wait(&handle, &status) is the same. */
int NBC_Wait(NBC_Handle *handle) FAB_NBC(NBC_Wait);
/* One look: NBC_OK, NBC_CONTINUE, or how it failed. NBC_Test(&handle, &flag, &status) sets flag instead of returning
 * NBC_CONTINUE. */
int NBC_Test(NBC_Handle *handle) FAB_NBC(NBC_Test);
/* The later releases' name for NBC_Test with one argument. */
int NBC_Testold(NBC_Handle *handle) FAB_NBC(NBC_Testold);

/* What these stand for in C, where a macro counts the arguments. A status tells of no source, no tag and no data, and
 * may be MPI_STATUS_IGNORE. */
int NBC_Wait_status(NBC_Handle *handle, MPI_Status *status) FAB_NBC(NBC_Wait_status);
int NBC_Test_flag(NBC_Handle *handle, int *flag, MPI_Status *status) FAB_NBC(NBC_Test_flag);

/* As MPI's calls, on arrays of handles. Complete handles count as inactive requests: `index` and `outcount` are
 * MPI_UNDEFINED when there are no others. Operations that fail count as complete; the first one's code is returned,
 * and each one's is the MPI_ERROR of its status. Statuses may be MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE. */
int NBC_Waitall(int count, NBC_Handle handles[], MPI_Status statuses[]) FAB_NBC(NBC_Waitall);
int NBC_Testall(int count, NBC_Handle handles[], int *flag, MPI_Status statuses[]) FAB_NBC(NBC_Testall);
int NBC_Waitany(int count, NBC_Handle handles[], int *index, MPI_Status *status) FAB_NBC(NBC_Waitany);
int NBC_Testany(int count, NBC_Handle handles[], int *index, int *flag, MPI_Status *status) FAB_NBC(NBC_Testany);
int NBC_Waitsome(int incount, NBC_Handle handles[], int *outcount, int indices[], MPI_Status statuses[])
    FAB_NBC(NBC_Waitsome);
int NBC_Testsome(int incount, NBC_Handle handles[], int *outcount, int indices[], MPI_Status statuses[])
    FAB_NBC(NBC_Testsome);

/* The operation goes on by itself and its end will not be told; the handle may serve again. What it holds is freed when
 * nothing needs it any more. For a complete handle: frees what a failed NBC_Start left in it. */
int NBC_Free(NBC_Handle *handle) FAB_NBC(NBC_Free);

/* ---- Schedules (section 3.1 of the document): rounds of operations that may all be in flight at a time, one round
 * after the other. The k-th message from rank a to rank b that a's schedule sends meets the k-th that b's receives
 * from a, whatever the rounds; both have the same bytes. Operations of a round must not depend on each other, but for
 * copies and reductions, which are done in their order once the messages are on their way. */

typedef struct fab_nbc_schedule *NBC_Schedule;

/* An empty schedule of one round. */
int NBC_Sched_create(NBC_Schedule *schedule) FAB_NBC(NBC_Sched_create);
/* Ranks are those of the communicator that NBC_Start gets; MPI_PROC_NULL: nothing. At most 256 messages a round, peer
 * and direction. */
int NBC_Sched_send(const void *buf, int count, MPI_Datatype datatype, int dest, NBC_Schedule *schedule)
    FAB_NBC(NBC_Sched_send);
int NBC_Sched_recv(void *buf, int count, MPI_Datatype datatype, int source, NBC_Schedule *schedule)
    FAB_NBC(NBC_Sched_recv);
/* tgt = src1 op src2; src1 is the lower ranks' operand. tgt may be either of them. */
int NBC_Sched_op(void *tgt, const void *src1, const void *src2, int count, MPI_Datatype datatype, MPI_Op op,
                 NBC_Schedule *schedule) FAB_NBC(NBC_Sched_op);
/* Both ends have the same bytes. */
int NBC_Sched_copy(const void *src, int srccount, MPI_Datatype srctype, void *tgt, int tgtcount, MPI_Datatype tgttype,
                   NBC_Schedule *schedule) FAB_NBC(NBC_Sched_copy);
/* What follows belongs to the next round. */
int NBC_Sched_barrier(NBC_Schedule *schedule) FAB_NBC(NBC_Sched_barrier);
/* Nothing can be added any more. */
int NBC_Sched_commit(NBC_Schedule *schedule) FAB_NBC(NBC_Sched_commit);

/* Starts a schedule. handle->tmpbuf must have been set. From now on the handle owns it, and the schedule, whose memory
 * `*schedule` is of malloc as well: both are freed when the operation is complete. A schedule of several handles is
 * freed with the last. If the start fails, NBC_Free on the handle frees them. */
int NBC_Start(NBC_Handle *handle, MPI_Comm comm, NBC_Schedule *schedule) FAB_NBC(NBC_Start);
/* NBC_Test under another name. */
int NBC_Progress(NBC_Handle *handle) FAB_NBC(NBC_Progress);

/* Local and at once: what NBC_Sched_copy and NBC_Sched_op do in a schedule (section 3.3). comm is ignored. */
int NBC_Copy(const void *src, int srccount, MPI_Datatype srctype, void *tgt, int tgtcount, MPI_Datatype tgttype,
             MPI_Comm comm) FAB_NBC(NBC_Copy);
int NBC_Operation(void *tgt, const void *src1, const void *src2, MPI_Op op, MPI_Datatype type, int count)
    FAB_NBC(NBC_Operation);

#ifdef __cplusplus
}

inline int NBC_Wait(NBC_Handle *handle, MPI_Status *status) { return NBC_Wait_status(handle, status); }
inline int NBC_Test(NBC_Handle *handle, int *flag, MPI_Status *status) { return NBC_Test_flag(handle, flag, status); }

#else

/* Without parentheses behind them the names are those of the functions with one argument. */
#define NBC_Wait(...) FAB_NBC_SECOND(__VA_ARGS__, NBC_Wait_status, (NBC_Wait), 0)(__VA_ARGS__)
#define NBC_Test(...) FAB_NBC_THIRD(__VA_ARGS__, NBC_Test_flag, 0, (NBC_Test), 0)(__VA_ARGS__)
#define FAB_NBC_SECOND(a, b, chosen, ...) chosen
#define FAB_NBC_THIRD(a, b, c, chosen, ...) chosen

/* The document's listings take it for granted. */
#ifndef LOG2
#define LOG2 0.69314718055994530942
#endif

#endif

#endif
