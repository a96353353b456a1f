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

typedef enum fab_type FAB_ANY_INT {
  FAB_BYTE,
  FAB_INT8,
  FAB_INT16,
  FAB_INT32,
  FAB_INT64,
  FAB_UINT8,
  FAB_UINT16,
  FAB_UINT32,
  FAB_UINT64,
  FAB_FLOAT32,
  FAB_FLOAT64,
  FAB_LONG_DOUBLE,
  FAB_FLOAT32_COMPLEX,
  FAB_FLOAT64_COMPLEX,
  FAB_BOOL
} fab_type;

typedef enum fab_op FAB_ANY_INT {
  FAB_SUM,
  FAB_PRODUCT,
  FAB_MIN,
  FAB_MAX,
  FAB_LOGICAL_AND,
  FAB_LOGICAL_OR,
  FAB_LOGICAL_XOR,
  FAB_BIT_AND,
  FAB_BIT_OR,
  FAB_BIT_XOR
} fab_op;

/* As the send buffer, this makes the operation work in place: the data to send is in the receive buffer. */
#define FAB_IN_PLACE ((const void *)1)

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
  fab_operation_name name;
  fab_type type;
  const void *send;
  void *recv;
  size_t count;
  fab_op op;
  int root;
  const int64_t *send_counts; /* v operations only; counts and displacements are in elements */
  const int64_t *send_displacements;
  const int64_t *recv_counts; /* v operations, and reduce_scatter */
  const int64_t *recv_displacements;
  int dimension;
  int displacement;
  void *reserved[2]; /* must be 0 */
} fab_operation;

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
/* The rank sends one block, and receives blocks of different sizes. */
static inline fab_operation fab_one_to_blocks(fab_operation_name name, const void *send, size_t count, void *recv,
                                              const int64_t recv_counts[], const int64_t recv_displacements[],
                                              fab_type type) {
  fab_operation operation = fab_of_blocks(name, send, NULL, NULL, recv, recv_counts, recv_displacements, type);
  operation.count = count;
  return operation;
}

static inline fab_operation fab_barrier(void) { return fab_operation_of(FAB_OP_BARRIER, NULL, NULL, 0, FAB_BYTE); }
static inline fab_operation fab_bcast(void *buffer, size_t count, fab_type type, int root) {
  return fab_rooted(fab_operation_of(FAB_OP_BCAST, FAB_IN_PLACE, buffer, count, type), root);
}
/* In place, the root's buffer is replaced, and the buffers of other ranks are read. */
static inline fab_operation fab_reduce(const void *send, void *recv, size_t count, fab_type type, fab_op op, int root) {
  return fab_rooted(fab_combining(FAB_OP_REDUCE, send, recv, count, type, op), root);
}
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
static inline fab_operation fab_scan(const void *send, void *recv, size_t count, fab_type type, fab_op op) {
  return fab_combining(FAB_OP_SCAN, send, recv, count, type, op);
}
static inline fab_operation fab_exscan(const void *send, void *recv, size_t count, fab_type type, fab_op op) {
  return fab_combining(FAB_OP_EXSCAN, send, recv, count, type, op);
}
/* In place, the root's own block is already in its place in `recv`. Other ranks send from, or receive into, `recv`. */
static inline fab_operation fab_gather(const void *send, void *recv, size_t count, fab_type type, int root) {
  return fab_rooted(fab_operation_of(FAB_OP_GATHER, send, recv, count, type), root);
}
static inline fab_operation fab_scatter(const void *send, void *recv, size_t count, fab_type type, int root) {
  return fab_rooted(fab_operation_of(FAB_OP_SCATTER, send, recv, count, type), root);
}
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
static inline fab_operation fab_allgather(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_ALLGATHER, send, recv, count, type);
}
static inline fab_operation fab_allgatherv(const void *send, size_t count, void *recv, const int64_t recv_counts[],
                                           const int64_t recv_displacements[], fab_type type) {
  return fab_one_to_blocks(FAB_OP_ALLGATHERV, send, count, recv, recv_counts, recv_displacements, type);
}
static inline fab_operation fab_alltoall(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_ALLTOALL, send, recv, count, type);
}
static inline fab_operation fab_alltoallv(const void *send, const int64_t send_counts[],
                                          const int64_t send_displacements[], void *recv, const int64_t recv_counts[],
                                          const int64_t recv_displacements[], fab_type type) {
  return fab_of_blocks(FAB_OP_ALLTOALLV, send, send_counts, send_displacements, recv, recv_counts, recv_displacements,
                       type);
}

/* Exchanges between neighbours: block i goes to destination i and comes from source i. On a Cartesian communicator the
 * neighbours are, per dimension, the one at +1, then the one at -1. */
static inline fab_operation fab_neighbor_xchg(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_NEIGHBOR_XCHG, send, recv, count, type);
}
static inline fab_operation fab_neighbor_xchgv(const void *send, const int64_t send_counts[],
                                               const int64_t send_displacements[], void *recv,
                                               const int64_t recv_counts[], const int64_t recv_displacements[],
                                               fab_type type) {
  return fab_of_blocks(FAB_OP_NEIGHBOR_XCHGV, send, send_counts, send_displacements, recv, recv_counts,
                       recv_displacements, type);
}
static inline fab_operation fab_cart_shift_xchg(const void *send, void *recv, size_t count, fab_type type,
                                                int dimension, int displacement) {
  fab_operation operation = fab_operation_of(FAB_OP_CART_SHIFT_XCHG, send, recv, count, type);
  operation.dimension = dimension;
  operation.displacement = displacement;
  return operation;
}
/* The neighbourhood collectives of MPI. They use the same edges in another order: -1, then +1, with a slot also for a
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
static inline fab_operation fab_neighbor_alltoall(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_NEIGHBOR_ALLTOALL, send, recv, count, type);
}
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
