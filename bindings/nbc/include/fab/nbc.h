/* Non-blocking collective operations under the names of LibNBC, implemented by fab. For C (since C99) and C++.
 *
 * The calls are those of "Design, Implementation, and Usage of LibNBC" (Hoefler and Lumsdaine, 2006; "the document"
 * below) and of the library's 1.x releases, on the caller's own MPI communicators, datatypes and operations. Link with
 * libfab_mpi before the MPI library. docs/reference/nbc.md lists the differences from LibNBC.
 *
 * Common to all calls
 *   - The calls return NBC_OK or another code below. Failures of the network (a lost peer, more data than the receiver
 *     has room for) are MPI error classes above these codes: MPI_ERR_OTHER, MPI_ERR_TRUNCATE. fab's log has details
 *     (FAB_LOG). The communicator's MPI error handler is not called.
 *   - All ranks of a communicator start its operations in the same order. They are independent of MPI's own operations
 *     on the communicator, and of fab's exchanges under MPI's names: all may be mixed freely.
 *   - A call that starts an operation returns at once, and the operation goes on by itself. The buffers belong to fab
 *     until it is complete. Reductions with an operation of MPI_Op_create make progress while a thread waits or tests.
 *   - Supported arguments: MPI_IN_PLACE wherever MPI's call of that name has it, and as sendbuf in NBC_Ineighbor_xchg,
 *     NBC_Ineighbor_xchgv and NBC_Icart_shift_xchg; derived datatypes; null if there is no data; MPI_BOTTOM with types
 *     or, in the w-forms, displacements that are addresses. Arguments that are significant only at the root in MPI are
 *     checked only there. The caller may reuse arrays of counts, displacements and types at once, and free types and
 *     operations.
 */
#ifndef FAB_NBC_H
#define FAB_NBC_H

#include <fab/mpi_library.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NBC_OK 0                     /* complete, or nothing was wrong */
#define NBC_SUCCESS 0                /* another name of NBC_OK */
#define NBC_OOR 1                    /* out of resources */
#define NBC_BAD_SCHED 2              /* not a schedule, not committed, or not possible to carry out */
#define NBC_CONTINUE 3               /* not complete yet */
#define NBC_DATATYPE_NOT_SUPPORTED 4 /* no datatype, or one that is not committed */
#define NBC_OP_NOT_SUPPORTED 5       /* no operation, or one that is not defined on the datatype */
#define NBC_NOT_IMPLEMENTED 6        /* never returned */
#define NBC_INVALID_PARAM 7          /* any other invalid argument */
#define NBC_INVALID_TOPOLOGY_COMM 8  /* the communicator does not have the topology that the call needs */

/* The linker's name of a call. Open MPI's module coll/libnbc descends from LibNBC and has functions of the same names;
 * it must not be linked with these. */
#define FAB_NBC(name) __asm__("fab_" #name)

/* The handle of an operation in flight. The user owns it. It needs no initialisation, must stay at its address until
 * the operation is complete, and may then be used again. A handle of zero bytes counts as complete. */
typedef struct NBC_Handle {
  void *tmpbuf;        /* for NBC_Start: memory from malloc that is freed when the operation is complete, or NULL */
  int fab_active;      /* 1 while fab_memory is in use; the user does not write it */
  void *fab_memory[6]; /* of fab's */
} NBC_Handle;

/* ---- Operations ---- */

/* @{ */
/* Starts the operation of MPI's blocking call of that name, with its arguments (MPI-4.1, chapter 6). Returns at once.
 */
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
/* @} */

/* ---- Operations along a topology ---- */

/* @{ */
/* Starts an exchange of a block with each neighbour. Blocks, here and below, are in the order of NBC_Comm_neighbors.
 * Its MPI_PROC_NULL entries have blocks, too; nothing is sent from them or written to them. On a Cartesian communicator
 * a block that leaves in one direction arrives in the receiver's block for the opposite direction. */
int NBC_Ineighbor_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ineighbor_xchg);
int NBC_Ineighbor_xchgv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                        void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                        MPI_Comm comm, NBC_Handle *handle) FAB_NBC(NBC_Ineighbor_xchgv);
/* @} */
/* MPI_Cart_shift and the transfer in one call. If a rank has no source, its receive buffer is unchanged. */
int NBC_Icart_shift_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                         MPI_Datatype recvtype, int direction, int disp, MPI_Comm comm, NBC_Handle *handle)
    FAB_NBC(NBC_Icart_shift_xchg);
/* @{ */
/* Starts the neighbourhood collective of that name, with its arguments (MPI-4.1, section 8.6). */
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
/* @} */

/* The number of the calling rank's neighbours. Local. A Cartesian communicator has two per dimension, at displacement
 * -1, then +1; beyond a border the neighbour is MPI_PROC_NULL. *weighted is 1 for distributed graphs with weights. */
int NBC_Comm_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
    FAB_NBC(NBC_Comm_neighbors_count);
/* The calling rank's neighbours. Returns NBC_INVALID_PARAM if there is no room for all. Weights are written only for
 * distributed graphs; either array of weights may be MPI_UNWEIGHTED. */
int NBC_Comm_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                       int destinations[], int destweights[]) FAB_NBC(NBC_Comm_neighbors);

/* ---- Completion ---- */

/* Returns when the operation is complete. A call that reports the end of an operation, this one or another, returns its
 * code, and frees the memory of the handle. NBC_Wait(&handle, &status) is also accepted. */
int NBC_Wait(NBC_Handle *handle) FAB_NBC(NBC_Wait);
/* Does not wait. Returns NBC_OK, NBC_CONTINUE, or the code of the failure. NBC_Test(&handle, &flag, &status) sets flag
 * instead of returning NBC_CONTINUE. */
int NBC_Test(NBC_Handle *handle) FAB_NBC(NBC_Test);
/* The name of NBC_Test with one argument in later releases. */
int NBC_Testold(NBC_Handle *handle) FAB_NBC(NBC_Testold);

/* @{ */
/* NBC_Wait and NBC_Test with a status; in C, macros choose them by the number of arguments. The status has no source,
 * no tag and no data. It may be MPI_STATUS_IGNORE. */
int NBC_Wait_status(NBC_Handle *handle, MPI_Status *status) FAB_NBC(NBC_Wait_status);
int NBC_Test_flag(NBC_Handle *handle, int *flag, MPI_Status *status) FAB_NBC(NBC_Test_flag);
/* @} */

/* @{ */
/* As MPI's calls, on arrays of handles. Complete handles count as inactive requests: `index` and `outcount` are
 * MPI_UNDEFINED if there are no others. Failed operations count as complete: the code of the first is returned, and the
 * MPI_ERROR of each status has the code of its operation. Statuses may be MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE. */
int NBC_Waitall(int count, NBC_Handle handles[], MPI_Status statuses[]) FAB_NBC(NBC_Waitall);
int NBC_Testall(int count, NBC_Handle handles[], int *flag, MPI_Status statuses[]) FAB_NBC(NBC_Testall);
int NBC_Waitany(int count, NBC_Handle handles[], int *index, MPI_Status *status) FAB_NBC(NBC_Waitany);
int NBC_Testany(int count, NBC_Handle handles[], int *index, int *flag, MPI_Status *status) FAB_NBC(NBC_Testany);
int NBC_Waitsome(int incount, NBC_Handle handles[], int *outcount, int indices[], MPI_Status statuses[])
    FAB_NBC(NBC_Waitsome);
int NBC_Testsome(int incount, NBC_Handle handles[], int *outcount, int indices[], MPI_Status statuses[])
    FAB_NBC(NBC_Testsome);
/* @} */

/* Releases the handle, which may be used again. Its operation goes on by itself, and its end is not reported; its
 * memory is freed once nothing needs it. For a complete handle: frees the memory that a failed NBC_Start left in it. */
int NBC_Free(NBC_Handle *handle) FAB_NBC(NBC_Free);

/* ---- Schedules ---- */

/* A schedule of the user's (section 3.1 of the document). It has rounds, which run one after the other. The operations
 * of a round may all be in flight together. The k-th message that a's schedule sends to b matches the k-th that b's
 * schedule receives from a, in any rounds; both have the same number of bytes. Operations of a round must not depend on
 * each other, except copies and reductions: these run in their order once the messages of the round are posted. */
typedef struct fab_nbc_schedule *NBC_Schedule;

/* An empty schedule of one round. */
int NBC_Sched_create(NBC_Schedule *schedule) FAB_NBC(NBC_Sched_create);
/* @{ */
/* Adds a message to the round. Ranks are those of the communicator that NBC_Start gets. For MPI_PROC_NULL nothing is
 * added. At most 256 messages per round, peer and direction. */
int NBC_Sched_send(const void *buf, int count, MPI_Datatype datatype, int dest, NBC_Schedule *schedule)
    FAB_NBC(NBC_Sched_send);
int NBC_Sched_recv(void *buf, int count, MPI_Datatype datatype, int source, NBC_Schedule *schedule)
    FAB_NBC(NBC_Sched_recv);
/* @} */
/* Adds a reduction: tgt = src1 op src2; src1 is the operand of the lower ranks. tgt may be src1 or src2. */
int NBC_Sched_op(void *tgt, const void *src1, const void *src2, int count, MPI_Datatype datatype, MPI_Op op,
                 NBC_Schedule *schedule) FAB_NBC(NBC_Sched_op);
/* Adds a copy. Source and target have the same number of bytes. */
int NBC_Sched_copy(const void *src, int srccount, MPI_Datatype srctype, void *tgt, int tgtcount, MPI_Datatype tgttype,
                   NBC_Schedule *schedule) FAB_NBC(NBC_Sched_copy);
/* Ends the round. Operations that are added later belong to the next one. */
int NBC_Sched_barrier(NBC_Schedule *schedule) FAB_NBC(NBC_Sched_barrier);
/* Completes the schedule. Nothing can be added afterwards. */
int NBC_Sched_commit(NBC_Schedule *schedule) FAB_NBC(NBC_Sched_commit);

/* Starts a schedule. handle->tmpbuf must be set. From now on the handle owns tmpbuf and the schedule, whose memory is
 * from malloc as well. Both are freed when the operation is complete. A schedule that several handles started is freed
 * with the last of them. If the start fails, NBC_Free on the handle frees both. */
int NBC_Start(NBC_Handle *handle, MPI_Comm comm, NBC_Schedule *schedule) FAB_NBC(NBC_Start);
/* Another name of NBC_Test. */
int NBC_Progress(NBC_Handle *handle) FAB_NBC(NBC_Progress);

/* @{ */
/* NBC_Sched_copy and NBC_Sched_op without a schedule: local, and done on return (section 3.3). comm is ignored. */
int NBC_Copy(const void *src, int srccount, MPI_Datatype srctype, void *tgt, int tgtcount, MPI_Datatype tgttype,
             MPI_Comm comm) FAB_NBC(NBC_Copy);
int NBC_Operation(void *tgt, const void *src1, const void *src2, MPI_Op op, MPI_Datatype type, int count)
    FAB_NBC(NBC_Operation);
/* @} */

#ifdef __cplusplus
}

/* @{ */
/* NBC_Wait_status and NBC_Test_flag under the names of LibNBC. */
inline int NBC_Wait(NBC_Handle *handle, MPI_Status *status) { return NBC_Wait_status(handle, status); }
inline int NBC_Test(NBC_Handle *handle, int *flag, MPI_Status *status) { return NBC_Test_flag(handle, flag, status); }
/* @} */

#else

/* @{ */
/* Chooses the function by the number of arguments: with a status, or without. A name without parentheses behind it is
 * the function with one argument. */
#define NBC_Wait(...) FAB_NBC_SECOND(__VA_ARGS__, NBC_Wait_status, (NBC_Wait), 0)(__VA_ARGS__)
#define NBC_Test(...) FAB_NBC_THIRD(__VA_ARGS__, NBC_Test_flag, 0, (NBC_Test), 0)(__VA_ARGS__)
/* @} */
/* @{ */
/* The name that the arguments behind it move to the place of `chosen`. NBC_Wait and NBC_Test use it. */
#define FAB_NBC_SECOND(a, b, chosen, ...) chosen
#define FAB_NBC_THIRD(a, b, c, chosen, ...) chosen
/* @} */

#ifndef LOG2
/* The natural logarithm of 2, which the listings of the document use. */
#define LOG2 0.69314718055994530942
#endif

#endif

#endif
