/* Operations of the C API (fab/fab_c.h): the functions that describe them, the types of elements, and how reductions
 * combine these. */
#ifndef FAB_FAB_C_OPERATION_H
#define FAB_FAB_C_OPERATION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Any int is a value of these enumerations, also in C++. Calls refuse values without a name. */
#ifdef __cplusplus
#define FAB_ANY_INT : int
#else
#define FAB_ANY_INT
#endif

/* The type of the elements of both buffers, here with its name in C. */
typedef enum fab_type FAB_ANY_INT {
  FAB_BYTE,            /* bits without a meaning */
  FAB_INT8,            /* int8_t */
  FAB_INT16,           /* int16_t */
  FAB_INT32,           /* int32_t */
  FAB_INT64,           /* int64_t */
  FAB_UINT8,           /* uint8_t */
  FAB_UINT16,          /* uint16_t */
  FAB_UINT32,          /* uint32_t */
  FAB_UINT64,          /* uint64_t */
  FAB_FLOAT32,         /* float */
  FAB_FLOAT64,         /* double */
  FAB_LONG_DOUBLE,     /* long double */
  FAB_FLOAT32_COMPLEX, /* float _Complex */
  FAB_FLOAT64_COMPLEX, /* double _Complex */
  FAB_BOOL             /* _Bool */
} fab_type;

/* How a reduction combines two elements. FAB_INVALID_ARGUMENT for an operation on a type that it is not defined on. */
typedef enum fab_op FAB_ANY_INT {
  FAB_SUM,         /* integers, which wrap around, floating point, complex */
  FAB_PRODUCT,     /* integers, which wrap around, floating point, complex */
  FAB_MIN,         /* integers, floating point; a NaN if an operand is one */
  FAB_MAX,         /* integers, floating point; a NaN if an operand is one */
  FAB_LOGICAL_AND, /* integers, FAB_BOOL; 0 or 1 */
  FAB_LOGICAL_OR,  /* integers, FAB_BOOL; 0 or 1 */
  FAB_LOGICAL_XOR, /* integers, FAB_BOOL; 0 or 1 */
  FAB_BIT_AND,     /* integers, FAB_BYTE */
  FAB_BIT_OR,      /* integers, FAB_BYTE */
  FAB_BIT_XOR      /* integers, FAB_BYTE */
} fab_op;

/* As the send buffer, this makes the operation work in place: the data to send is in the receive buffer. */
#define FAB_IN_PLACE ((const void *)1)

/* The operation of a fab_operation: FAB_OP_BCAST is that of fab_bcast, and so on. */
typedef enum fab_operation_name FAB_ANY_INT {
  FAB_OP_BARRIER,
  FAB_OP_BCAST,
  FAB_OP_REDUCE,
  FAB_OP_ALLREDUCE,
  FAB_OP_GATHER,
  FAB_OP_SCATTER,
  FAB_OP_ALLGATHER,
  FAB_OP_ALLGATHERV,
  FAB_OP_ALLTOALL,
  FAB_OP_ALLTOALLV,
  FAB_OP_REDUCE_SCATTER_BLOCK,
  FAB_OP_SCAN,
  FAB_OP_EXSCAN,
  FAB_OP_NEIGHBOR_XCHG,
  FAB_OP_NEIGHBOR_XCHGV,
  FAB_OP_CART_SHIFT_XCHG,
  FAB_OP_NEIGHBOR_ALLGATHER,
  FAB_OP_NEIGHBOR_ALLTOALL,
  FAB_OP_NEIGHBOR_ALLTOALLV,
  FAB_OP_GATHERV,
  FAB_OP_SCATTERV,
  FAB_OP_REDUCE_SCATTER,
  FAB_OP_NEIGHBOR_ALLGATHERV
} fab_operation_name;

/* An operation and its arguments. Members that an operation does not use are 0. fab_perform, fab_start and
 * fab_make_persistent read the arrays before they return. */
typedef struct fab_operation {
  fab_operation_name name;           /* the operation */
  fab_type type;                     /* of the elements of both buffers */
  const void *send;                  /* the send buffer, or FAB_IN_PLACE */
  void *recv;                        /* the receive buffer */
  size_t count;                      /* elements of one block, on sides whose blocks have one size */
  fab_op op;                         /* reductions only */
  int root;                          /* operations with a root only: its rank */
  const int64_t *send_counts;        /* v operations only; counts and displacements are in elements */
  const int64_t *send_displacements; /* where the blocks of `send` begin */
  const int64_t *recv_counts;        /* v operations, and reduce_scatter */
  const int64_t *recv_displacements; /* where the blocks of `recv` begin */
  int dimension;                     /* cart_shift_xchg only: the dimension of the grid, from 0 */
  int displacement;                  /* cart_shift_xchg only: any number of places; periodic dimensions wrap */
  void *reserved[2];                 /* must be 0 */
} fab_operation;

/* @{ */
/* Fills in members of an operation for the functions below; the others are 0. */
static inline fab_operation fab_operation_of(fab_operation_name name, const void *send, void *recv, size_t count,
                                             fab_type type) {
  fab_operation operation = {FAB_OP_BARRIER, FAB_BYTE, NULL, NULL, 0, FAB_SUM, 0,
                             NULL,           NULL,     NULL, NULL, 0, 0,       {NULL, NULL}};
  operation.name = name;
  operation.send = send;
  operation.recv = recv;
  operation.count = count;
  operation.type = type;
  return operation;
}
static inline fab_operation fab_combining(fab_operation_name name, const void *send, void *recv, size_t count,
                                          fab_type type, fab_op op) {
  fab_operation operation = fab_operation_of(name, send, recv, count, type);
  operation.op = op;
  return operation;
}
static inline fab_operation fab_rooted(fab_operation operation, int root) {
  operation.root = root;
  return operation;
}
static inline fab_operation fab_of_blocks(fab_operation_name name, const void *send, const int64_t send_counts[],
                                          const int64_t send_displacements[], void *recv, const int64_t recv_counts[],
                                          const int64_t recv_displacements[], fab_type type) {
  fab_operation operation = fab_operation_of(name, send, recv, 0, type);
  operation.send_counts = send_counts;
  operation.send_displacements = send_displacements;
  operation.recv_counts = recv_counts;
  operation.recv_displacements = recv_displacements;
  return operation;
}
static inline fab_operation fab_one_to_blocks(fab_operation_name name, const void *send, size_t count, void *recv,
                                              const int64_t recv_counts[], const int64_t recv_displacements[],
                                              fab_type type) {
  fab_operation operation = fab_of_blocks(name, send, NULL, NULL, recv, recv_counts, recv_displacements, type);
  operation.count = count;
  return operation;
}
/* @} */

/* Complete once all ranks have started it. */
static inline fab_operation fab_barrier(void) { return fab_operation_of(FAB_OP_BARRIER, NULL, NULL, 0, FAB_BYTE); }
/* The `count` elements of the root's buffer go to all ranks. */
static inline fab_operation fab_bcast(void *buffer, size_t count, fab_type type, int root) {
  return fab_rooted(fab_operation_of(FAB_OP_BCAST, FAB_IN_PLACE, buffer, count, type), root);
}
/* Element i of the root's `recv` combines the elements i of all ranks, in the order of ranks. On other ranks `recv` may
 * be NULL. In place, the root's buffer is replaced, and the buffers of other ranks are read. */
static inline fab_operation fab_reduce(const void *send, void *recv, size_t count, fab_type type, fab_op op, int root) {
  return fab_rooted(fab_combining(FAB_OP_REDUCE, send, recv, count, type, op), root);
}
/* fab_reduce with the result on all ranks. */
static inline fab_operation fab_allreduce(const void *send, void *recv, size_t count, fab_type type, fab_op op) {
  return fab_combining(FAB_OP_ALLREDUCE, send, recv, count, type, op);
}
/* `count` is the number of elements of the part that each rank gets. */
static inline fab_operation fab_reduce_scatter_block(const void *send, void *recv, size_t count, fab_type type,
                                                     fab_op op) {
  return fab_combining(FAB_OP_REDUCE_SCATTER_BLOCK, send, recv, count, type, op);
}
/* Rank i gets recv_counts[i] elements of the result: those that follow the elements of ranks 0 to i - 1. `recv_counts`
 * has fab_size(comm) numbers, the same on all ranks; `send` has as many elements as they add up to. In place, the part
 * of the rank goes to the beginning of `recv`. FAB_INVALID_COUNT for a count below 0, or counts that do not fit into
 * memory. */
static inline fab_operation fab_reduce_scatter(const void *send, void *recv, const int64_t recv_counts[], fab_type type,
                                               fab_op op) {
  fab_operation operation = fab_combining(FAB_OP_REDUCE_SCATTER, send, recv, 0, type, op);
  operation.recv_counts = recv_counts;
  return operation;
}
/* Element i of rank r's result combines the elements i of ranks 0 to r. */
static inline fab_operation fab_scan(const void *send, void *recv, size_t count, fab_type type, fab_op op) {
  return fab_combining(FAB_OP_SCAN, send, recv, count, type, op);
}
/* As fab_scan, of ranks 0 to r - 1. The receive buffer of rank 0 stays as it is. */
static inline fab_operation fab_exscan(const void *send, void *recv, size_t count, fab_type type, fab_op op) {
  return fab_combining(FAB_OP_EXSCAN, send, recv, count, type, op);
}
/* @{ */
/* Blocks of `count` elements from all ranks to the root, or from the root to all ranks, in the order of ranks. In
 * place, the root's own block is already in its place in `recv`. Other ranks send from, or receive into, `recv`. */
static inline fab_operation fab_gather(const void *send, void *recv, size_t count, fab_type type, int root) {
  return fab_rooted(fab_operation_of(FAB_OP_GATHER, send, recv, count, type), root);
}
static inline fab_operation fab_scatter(const void *send, void *recv, size_t count, fab_type type, int root) {
  return fab_rooted(fab_operation_of(FAB_OP_SCATTER, send, recv, count, type), root);
}
/* @} */
/* Each rank sends `count` elements. At the root, the block of rank i has recv_counts[i] elements and begins at element
 * recv_displacements[i] of `recv`; each array has fab_size(comm) numbers. Other ranks may give NULL for `recv` and the
 * arrays. Only the root may send FAB_IN_PLACE: its own block is already in its place, and `count` is not used.
 * FAB_INVALID_COUNT for a count below 0, or if `count` differs from the root's own recv_counts; FAB_INVALID_ARGUMENT in
 * place on another rank; FAB_TRUNCATED or FAB_MISMATCH if a rank sends more or less than the root expects. */
static inline fab_operation fab_gatherv(const void *send, size_t count, void *recv, const int64_t recv_counts[],
                                        const int64_t recv_displacements[], fab_type type, int root) {
  return fab_rooted(fab_one_to_blocks(FAB_OP_GATHERV, send, count, recv, recv_counts, recv_displacements, type), root);
}
/* Each rank receives `count` elements. At the root, the block for rank i has send_counts[i] elements and begins at
 * element send_displacements[i] of `send`; each array has fab_size(comm) numbers. Other ranks may give NULL for `send`
 * and the arrays. If the root sends FAB_IN_PLACE, the blocks are in `recv`, its own stays there, and `count` is not
 * used. Refuses what fab_gatherv refuses; FAB_TRUNCATED or FAB_MISMATCH if the root sends a rank more or less than
 * `count`. */
static inline fab_operation fab_scatterv(const void *send, const int64_t send_counts[],
                                         const int64_t send_displacements[], void *recv, size_t count, fab_type type,
                                         int root) {
  fab_operation operation =
      fab_of_blocks(FAB_OP_SCATTERV, send, send_counts, send_displacements, recv, NULL, NULL, type);
  operation.count = count;
  return fab_rooted(operation, root);
}
/* Each rank sends `count` elements, and gets those of all ranks in the order of ranks. In place, the rank's own block
 * is already in its place in `recv`. */
static inline fab_operation fab_allgather(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_ALLGATHER, send, recv, count, type);
}
/* fab_gatherv with the result on all ranks, which give the same recv_counts. Any rank may send FAB_IN_PLACE. */
static inline fab_operation fab_allgatherv(const void *send, size_t count, void *recv, const int64_t recv_counts[],
                                           const int64_t recv_displacements[], fab_type type) {
  return fab_one_to_blocks(FAB_OP_ALLGATHERV, send, count, recv, recv_counts, recv_displacements, type);
}
/* A block of `count` elements from every rank to every rank: block i of `send` goes to rank i, and block i of `recv`
 * comes from rank i. */
static inline fab_operation fab_alltoall(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_ALLTOALL, send, recv, count, type);
}
/* fab_alltoall with blocks of any size: block i has counts[i] elements and begins at element displacements[i] of its
 * buffer. Each array has fab_size(comm) numbers. In place, the arrays for `send` may be NULL. */
static inline fab_operation fab_alltoallv(const void *send, const int64_t send_counts[],
                                          const int64_t send_displacements[], void *recv, const int64_t recv_counts[],
                                          const int64_t recv_displacements[], fab_type type) {
  return fab_of_blocks(FAB_OP_ALLTOALLV, send, send_counts, send_displacements, recv, recv_counts, recv_displacements,
                       type);
}

/* Exchanges blocks of `count` elements between neighbours: block i goes to destination i and comes from source i. On a
 * Cartesian communicator the neighbours are, per dimension, the one at +1, then the one at -1. */
static inline fab_operation fab_neighbor_xchg(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_NEIGHBOR_XCHG, send, recv, count, type);
}
/* fab_neighbor_xchg with blocks of any size: block i has counts[i] elements and begins at element displacements[i] of
 * its buffer. Both ends of an edge give its block the same size. In place, the arrays for `send` may be NULL. */
static inline fab_operation fab_neighbor_xchgv(const void *send, const int64_t send_counts[],
                                               const int64_t send_displacements[], void *recv,
                                               const int64_t recv_counts[], const int64_t recv_displacements[],
                                               fab_type type) {
  return fab_of_blocks(FAB_OP_NEIGHBOR_XCHGV, send, send_counts, send_displacements, recv, recv_counts,
                       recv_displacements, type);
}
/* Shifts one block of `count` elements by `displacement` places along a dimension of a Cartesian communicator. If a
 * rank has no source, its receive buffer stays as it is. */
static inline fab_operation fab_cart_shift_xchg(const void *send, void *recv, size_t count, fab_type type,
                                                int dimension, int displacement) {
  fab_operation operation = fab_operation_of(FAB_OP_CART_SHIFT_XCHG, send, recv, count, type);
  operation.dimension = dimension;
  operation.displacement = displacement;
  return operation;
}
/* Sends `count` elements to all destinations; `recv` has a block for each slot of a source. This is the first of the
 * neighbourhood collectives of MPI. They use the same edges in another order: -1, then +1, with a slot also for a
 * neighbour that does not exist. */
static inline fab_operation fab_neighbor_allgather(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_NEIGHBOR_ALLGATHER, send, recv, count, type);
}
/* Sends `count` elements to all destinations. The block in slot i has recv_counts[i] elements and begins at element
 * recv_displacements[i] of `recv`; each array has one number per slot of a source, two per dimension on a Cartesian
 * communicator. FAB_INVALID_COUNT for a count below 0; FAB_INVALID_ARGUMENT in place, as `recv` has no block of the
 * rank's own (also from fab_neighbor_allgather); FAB_INVALID_TOPOLOGY without a topology; FAB_TRUNCATED or FAB_MISMATCH
 * if a neighbour sends more or less than its slot has. */
static inline fab_operation fab_neighbor_allgatherv(const void *send, size_t count, void *recv,
                                                    const int64_t recv_counts[], const int64_t recv_displacements[],
                                                    fab_type type) {
  return fab_one_to_blocks(FAB_OP_NEIGHBOR_ALLGATHERV, send, count, recv, recv_counts, recv_displacements, type);
}
/* Blocks of `count` elements: that in slot i of `send` goes to destination i, and slot i of `recv` comes from source i.
 */
static inline fab_operation fab_neighbor_alltoall(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_NEIGHBOR_ALLTOALL, send, recv, count, type);
}
/* fab_neighbor_alltoall with blocks of any size: that in slot i has counts[i] elements and begins at element
 * displacements[i] of its buffer. */
static inline fab_operation fab_neighbor_alltoallv(const void *send, const int64_t send_counts[],
                                                   const int64_t send_displacements[], void *recv,
                                                   const int64_t recv_counts[], const int64_t recv_displacements[],
                                                   fab_type type) {
  return fab_of_blocks(FAB_OP_NEIGHBOR_ALLTOALLV, send, send_counts, send_displacements, recv, recv_counts,
                       recv_displacements, type);
}

#ifdef __cplusplus
}
#endif

#endif /* FAB_FAB_C_OPERATION_H */
