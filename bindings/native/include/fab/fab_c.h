/* fab from C, and from languages that call C: `#include <fab/fab.h>` in a C program gives this header. No MPI is
 * needed.
 *
 * - Functions return FAB_SUCCESS or another fab_error; then fab_last_error() says what was wrong. Outputs are set on
 *   success only.
 * - An operation is a value, which one of the functions below makes: fab_perform completes it, fab_start returns at
 * once, and fab_make_persistent makes what can be started again and again.
 *
 *       fab_perform(world, fab_allreduce(FAB_IN_PLACE, &sum, 1, FAB_FLOAT64, FAB_SUM));
 *       fab_start(ring, fab_neighbor_xchg(mine, theirs, 1000, FAB_FLOAT64), &request);
 *
 * - Everything is as in C++ (fab/operation.h and the headers of the operations say more): the order of calls, what a
 * block is, who must agree about what. Counts are those of one block, in elements.
 * - A handle is used by one thread at a time; errors are kept for each thread. */
#ifndef FAB_FAB_C_H
#define FAB_FAB_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In C++ too, any int is a value of these enumerations: calls refuse those that have no name. */
#ifdef __cplusplus
#define FAB_ANY_INT : int
#else
#define FAB_ANY_INT
#endif

typedef enum fab_error FAB_ANY_INT {
  FAB_SUCCESS = 0,
  FAB_INVALID_ARGUMENT,
  FAB_INVALID_RANK,
  FAB_INVALID_COUNT,
  FAB_INVALID_TOPOLOGY,
  FAB_INVALID_SCHEDULE,
  FAB_TRUNCATED,     /* a peer sent more than the receiver declared */
  FAB_MISMATCH,      /* two ranks disagree about an operation, or about sizes */
  FAB_UNREACHABLE,   /* a peer cannot be reached */
  FAB_TRANSPORT,     /* the network reported a failure */
  FAB_TIMED_OUT,     /* nothing happened for FAB_WAIT_TIMEOUT seconds */
  FAB_CANCELLED,     /* the context was closed, or the request was cancelled */
  FAB_BOOTSTRAP,     /* the launcher is missing or refused */
  FAB_CONFIGURATION, /* a FAB_* variable has an unusable value */
  FAB_NO_RESOURCES   /* memory, descriptors */
} fab_error;

/* What the last call of this thread that failed said; "" before the first. Stays until the next one fails. */
const char *fab_last_error(void);

/* ---- Contexts and communicators ---- */

typedef struct fab_context fab_context;
typedef struct fab_comm fab_comm;

/* One rank's runtime. Its job is found through the launcher; without one it is a job of one rank. */
fab_error fab_open(fab_context **context);
/* Meets the other ranks, ten seconds at most, and frees the context. All that belongs to it has been freed before. */
fab_error fab_close(fab_context *context);
/* All ranks. Belongs to the context. */
const fab_comm *fab_world(const fab_context *context);

int fab_rank(const fab_comm *comm);
int fab_size(const fab_comm *comm);

/* Made collectively. Where a rank is left over, *made is NULL, and the call succeeds. */
fab_error fab_duplicate(const fab_comm *comm, fab_comm **made);
fab_error fab_subset(const fab_comm *comm, size_t count, const int ranks[], fab_comm **made);
/* reorder: ranks may change places so that fewer messages go between nodes. */
fab_error fab_cartesian(const fab_comm *comm, int dimensions, const int extents[], const int periodic[], int reorder,
                        fab_comm **made);
/* index[i] is the number of neighbours of ranks 0 to i; edges lists them. */
fab_error fab_graph(const fab_comm *comm, int ranks, const int index[], const int edges[], int reorder,
                    fab_comm **made);
fab_error fab_distributed_graph(const fab_comm *comm, int sources, const int source_ranks[], int destinations,
                                const int destination_ranks[], int reorder, fab_comm **made);
/* NULL: nothing happens. */
void fab_comm_free(fab_comm *comm);

/* How many there are, and who; the arrays may be NULL. Block i of an exchange belongs to neighbour i. */
fab_error fab_neighbors(const fab_comm *comm, size_t *destinations, size_t *sources);
fab_error fab_neighbor_ranks(const fab_comm *comm, int destinations[], int sources[]);

/* ---- Operations ---- */

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

/* The send buffer of an operation in place: what is sent lies in the receive buffer. */
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
  FAB_OP_NEIGHBOR_ALLTOALLV
} fab_operation_name;

/* What fab_perform, fab_start and fab_make_persistent take. Members that an operation does not use are 0. Arrays are
 * read before those return. */
typedef struct fab_operation {
  fab_operation_name name;
  fab_type type;
  const void *send;
  void *recv;
  size_t count;
  fab_op op;
  int root;
  const int64_t *send_counts; /* of the v operations, in elements, as displacements */
  const int64_t *send_displacements;
  const int64_t *recv_counts;
  const int64_t *recv_displacements;
  int dimension;
  int displacement;
  void *reserved[2]; /* 0 */
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

static inline fab_operation fab_barrier(void) { return fab_operation_of(FAB_OP_BARRIER, NULL, NULL, 0, FAB_BYTE); }
static inline fab_operation fab_bcast(void *buffer, size_t count, fab_type type, int root) {
  return fab_rooted(fab_operation_of(FAB_OP_BCAST, FAB_IN_PLACE, buffer, count, type), root);
}
/* In place the root's buffer is replaced, and those of other ranks are read. */
static inline fab_operation fab_reduce(const void *send, void *recv, size_t count, fab_type type, fab_op op, int root) {
  return fab_rooted(fab_combining(FAB_OP_REDUCE, send, recv, count, type, op), root);
}
static inline fab_operation fab_allreduce(const void *send, void *recv, size_t count, fab_type type, fab_op op) {
  return fab_combining(FAB_OP_ALLREDUCE, send, recv, count, type, op);
}
/* count: elements of the part that each rank gets. */
static inline fab_operation fab_reduce_scatter_block(const void *send, void *recv, size_t count, fab_type type,
                                                     fab_op op) {
  return fab_combining(FAB_OP_REDUCE_SCATTER_BLOCK, send, recv, count, type, op);
}
static inline fab_operation fab_scan(const void *send, void *recv, size_t count, fab_type type, fab_op op) {
  return fab_combining(FAB_OP_SCAN, send, recv, count, type, op);
}
static inline fab_operation fab_exscan(const void *send, void *recv, size_t count, fab_type type, fab_op op) {
  return fab_combining(FAB_OP_EXSCAN, send, recv, count, type, op);
}
/* In place, at the root: its block is in its place. Other ranks send, or receive in, `recv`. */
static inline fab_operation fab_gather(const void *send, void *recv, size_t count, fab_type type, int root) {
  return fab_rooted(fab_operation_of(FAB_OP_GATHER, send, recv, count, type), root);
}
static inline fab_operation fab_scatter(const void *send, void *recv, size_t count, fab_type type, int root) {
  return fab_rooted(fab_operation_of(FAB_OP_SCATTER, send, recv, count, type), root);
}
static inline fab_operation fab_allgather(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_ALLGATHER, send, recv, count, type);
}
static inline fab_operation fab_allgatherv(const void *send, size_t count, void *recv, const int64_t recv_counts[],
                                           const int64_t recv_displacements[], fab_type type) {
  fab_operation operation =
      fab_of_blocks(FAB_OP_ALLGATHERV, send, NULL, NULL, recv, recv_counts, recv_displacements, type);
  operation.count = count;
  return operation;
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

/* Between neighbours: block i goes to destination i and comes from source i. On a Cartesian communicator these are per
 * dimension +1, then -1. */
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
/* The same edges in the order of MPI's neighbourhood collectives: -1, then +1, and a slot for each neighbour that does
 * not exist. */
static inline fab_operation fab_neighbor_allgather(const void *send, void *recv, size_t count, fab_type type) {
  return fab_operation_of(FAB_OP_NEIGHBOR_ALLGATHER, send, recv, count, type);
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

/* ---- Requests ---- */

/* The caller's memory, {0} at first. Not copied while it is active. */
typedef struct fab_request {
  void *active; /* NULL: nothing is in flight */
  uint64_t state[7];
} fab_request;

/* What a receive took, or a probe found. */
typedef struct fab_message {
  int source;
  int tag;
  size_t bytes;
} fab_message;

/* Returns when the operation is complete. */
fab_error fab_perform(const fab_comm *comm, fab_operation operation);
/* Returns at once. The buffers belong to the operation until a wait or test has said that it is complete. */
fab_error fab_start(const fab_comm *comm, fab_operation operation, fab_request *request);

/* A request that is not active is complete. After a failure it is not active. `message` may be NULL. */
fab_error fab_wait(fab_request *request, fab_message *message);
fab_error fab_wait_for(fab_request *request, double seconds, int *complete);
fab_error fab_test(fab_request *request, int *complete, fab_message *message);
/* Waits for all, and returns the first failure. */
fab_error fab_wait_all(size_t count, fab_request requests[]);
/* Takes back a receive that no message has matched; it still has to be waited for, and is FAB_CANCELLED then. */
fab_error fab_cancel(fab_request *request);

/* An exchange that is made once, in the same order on all ranks, and started many times. */
typedef struct fab_exchange fab_exchange;
fab_error fab_make_persistent(const fab_comm *comm, fab_operation operation, fab_exchange **made);
fab_error fab_exchange_start(fab_exchange *exchange);
fab_error fab_exchange_wait(fab_exchange *exchange);
fab_error fab_exchange_wait_for(fab_exchange *exchange, double seconds, int *complete);
fab_error fab_exchange_test(fab_exchange *exchange, int *complete);
/* Returns when the block of that source of a neighbour exchange has come. */
fab_error fab_exchange_wait_source(fab_exchange *exchange, size_t source);
/* Waits for what is active. NULL: nothing happens. */
void fab_exchange_free(fab_exchange *exchange);

/* For event loops: readable when something has ended, or wants a test. See Context::event_fd. */
fab_error fab_event_fd(const fab_context *context, int *fd);
void fab_clear_events(const fab_context *context);

/* ---- Messages ---- */

#define FAB_ANY_SOURCE (-1)
#define FAB_ANY_TAG (-1)
#define FAB_NO_RANK (-2)

fab_error fab_send(const fab_comm *comm, const void *data, size_t bytes, int rank, int tag);
fab_error fab_recv(const fab_comm *comm, void *data, size_t bytes, int rank, int tag, fab_message *message);
fab_error fab_isend(const fab_comm *comm, const void *data, size_t bytes, int rank, int tag, fab_request *request);
fab_error fab_irecv(const fab_comm *comm, void *data, size_t bytes, int rank, int tag, fab_request *request);
fab_error fab_probe(const fab_comm *comm, int rank, int tag, fab_message *message);
fab_error fab_iprobe(const fab_comm *comm, int rank, int tag, int *found, fab_message *message);

/* ---- Halo exchanges (fab/halo.h) ---- */

typedef struct fab_halo fab_halo;

/* Arrays have an entry for each dimension, slowest first. */
typedef struct fab_halo_options {
  int dimensions;
  const int *grid;        /* ranks */
  const int *periodic;    /* 0 or 1 */
  const size_t *interior; /* own cells of this rank */
  const size_t *width;    /* of the halo on both sides; 0: none there */
  size_t element_bytes;   /* of a cell */
  int corners;            /* halos also come over edges and corners */
  int buffers;            /* 1, or 2: two fields of this shape */
  int reorder;
} fab_halo_options;

/* Collective. On a rank that is left over by the grid *made is NULL. */
fab_error fab_halo_make(const fab_comm *comm, const fab_halo_options *options, fab_halo **made);
void fab_halo_free(fab_halo *halo);
/* Cartesian. Belongs to the halo. */
const fab_comm *fab_halo_comm(const fab_halo *halo);
/* The current padded block, in C order. */
void *fab_halo_field(const fab_halo *halo);
/* The other one; NULL where there is one only. */
void *fab_halo_other_field(const fab_halo *halo);
/* Cells of the padded block per dimension, and from one cell to the next along each. */
void fab_halo_extents(const fab_halo *halo, size_t extents[]);
void fab_halo_strides(const fab_halo *halo, size_t strides[]);
/* side: -1, 0 or 1 per dimension. FAB_NO_RANK where the grid ends. */
fab_error fab_halo_neighbor(const fab_halo *halo, const int side[], int *rank);
fab_error fab_halo_start(fab_halo *halo);
fab_error fab_halo_finish(fab_halo *halo);
/* Waits for the halo on one side that has not been told of yet; *found is 0 when all have. */
fab_error fab_halo_finish_any(fab_halo *halo, int side[], int *found);
fab_error fab_halo_flip(fab_halo *halo);

/* ---- Memory ---- */

/* What lies in it is copied once between ranks of a node. NULL when there is none left. */
void *fab_buffer_alloc(size_t bytes);
/* NULL: nothing happens. */
fab_error fab_buffer_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif /* FAB_FAB_C_H */
