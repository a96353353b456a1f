/* The C API of fab, also for other languages that call C. `#include <fab/fab.h>` in a C program includes this header.
 * It needs no MPI.
 *
 * - Functions return FAB_SUCCESS or another fab_error; in the latter case fab_last_error() describes the error. Outputs
 *   are set on success only.
 * - An operation is a value that a function of fab/fab_c_operation.h makes. fab_perform completes it, fab_start starts
 *   it and returns at once, and fab_make_persistent makes an exchange that can be started many times.
 *
 *       fab_perform(world, fab_allreduce(FAB_IN_PLACE, &sum, 1, FAB_FLOAT64, FAB_SUM));
 *       fab_start(ring, fab_neighbor_xchg(mine, theirs, 1000, FAB_FLOAT64), &request);
 *
 * - The rules are those of the C++ API (fab/operation.h and the headers of the operations): the order of calls, the
 *   blocks, and what ranks must agree about. A count is the number of elements of one block.
 * - One thread at a time uses a handle. Each thread has its own last error. */
#ifndef FAB_FAB_C_H
#define FAB_FAB_C_H

#include <stddef.h>
#include <stdint.h>

#include "fab/api.h"
#include "fab/fab_c_operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Success, or the kind of an error. Most functions return one. */
typedef enum fab_error FAB_ANY_INT {
  FAB_SUCCESS = 0,      /* no error */
  FAB_INVALID_ARGUMENT, /* an argument is outside its domain */
  FAB_INVALID_RANK,     /* a rank outside the communicator */
  FAB_INVALID_COUNT,    /* a count below 0, or one that does not fit its buffer */
  FAB_INVALID_TOPOLOGY, /* the communicator has no topology, or not the kind that the call needs */
  FAB_INVALID_SCHEDULE, /* a schedule is not valid */
  FAB_TRUNCATED,        /* a peer sent more bytes than the receiver has room for */
  FAB_MISMATCH,         /* two ranks disagree about an operation, or about the size of a block */
  FAB_UNREACHABLE,      /* a peer cannot be reached */
  FAB_TRANSPORT,        /* the network provider reported a failure */
  FAB_TIMED_OUT,        /* the operation made no progress for FAB_WAIT_TIMEOUT seconds */
  FAB_CANCELLED,        /* the context was closed, or the request was cancelled */
  FAB_BOOTSTRAP,        /* the launcher's PMIx server is missing, or refused a request */
  FAB_CONFIGURATION,    /* a FAB_* variable has an unusable value */
  FAB_NO_RESOURCES      /* memory or file descriptors are used up */
} fab_error;

/* The message of the last call that failed in this thread; "" if none has. Valid until the next call fails. */
FAB_API const char *fab_last_error(void);

/* ---- Contexts and communicators ---- */

/* One rank's runtime, from fab_open to fab_close. */
typedef struct fab_context fab_context;
/* A communicator: a group of ranks, with or without a topology, whose messages stay apart from those of others. */
typedef struct fab_comm fab_comm;

/* Opens one rank's runtime. It finds its job through the launcher; without a launcher it is a job of one rank. */
FAB_API fab_error fab_open(fab_context **context);
/* With 1 to 64 engines, the same number on all ranks, so that threads need not wait for each other (fab/context.h).
 * FAB_INVALID_ARGUMENT for another number. */
FAB_API fab_error fab_open_engines(int engines, fab_context **context);
/* Waits at most ten seconds for each other rank to close, and frees the context. Complete its requests before, and free
 * the communicators, exchanges, persistent messages and halos that were made from it. */
FAB_API fab_error fab_close(fab_context *context);
/* The communicator of all ranks. The context owns it. */
FAB_API const fab_comm *fab_world(const fab_context *context);
/* That of an engine, counted from 0. Communicators that are made from it belong to the same engine. NULL if `context`
 * is NULL or has no such engine. */
FAB_API const fab_comm *fab_world_of(const fab_context *context, int engine);

/* The calling rank's number in the communicator; FAB_NO_RANK if `comm` is NULL. */
FAB_API int fab_rank(const fab_comm *comm);
/* The number of ranks; 0 if `comm` is NULL. */
FAB_API int fab_size(const fab_comm *comm);

/* This call and the following ones make a communicator and are collective over `comm`. A rank that is not in the new
 * communicator gets *made == NULL, and its call succeeds. fab_duplicate keeps the ranks and the topology. */
FAB_API fab_error fab_duplicate(const fab_comm *comm, fab_comm **made);
/* The `count` listed ranks, numbered in the order of the list, which is the same on all ranks of `comm` and names each
 * rank once. The communicator has no topology. FAB_INVALID_RANK for another list. */
FAB_API fab_error fab_subset(const fab_comm *comm, size_t count, const int ranks[], fab_comm **made);
/* A grid of `extents` ranks per dimension, slowest first; periodic[d] != 0 if dimension d wraps. reorder != 0, here and
 * below: ranks may change places so that fewer messages cross between nodes. FAB_INVALID_TOPOLOGY if the grid has more
 * places than `comm` has ranks. */
FAB_API fab_error fab_cartesian(const fab_comm *comm, int dimensions, const int extents[], const int periodic[],
                                int reorder, fab_comm **made);
/* index[i] is the total number of neighbours of ranks 0 to i; edges lists them rank by rank. */
FAB_API fab_error fab_graph(const fab_comm *comm, int ranks, const int index[], const int edges[], int reorder,
                            fab_comm **made);
/* Each rank gives its own edges: the ranks from which blocks come, and those that blocks go to. FAB_INVALID_RANK for
 * one outside `comm`. */
FAB_API fab_error fab_distributed_graph(const fab_comm *comm, int sources, const int source_ranks[], int destinations,
                                        const int destination_ranks[], int reorder, fab_comm **made);
/* Each rank knows only the edges that leave it, to each rank once. The sources are found, and are in ascending order.
 */
FAB_API fab_error fab_distributed_graph_to(const fab_comm *comm, int destinations, const int destination_ranks[],
                                           int reorder, fab_comm **made);
/* Frees a communicator that one of the calls above made. `comm` may be NULL. */
FAB_API void fab_comm_free(fab_comm *comm);

/* @{ */
/* The numbers of neighbours, and their ranks. Each output may be NULL. Block i of an exchange belongs to neighbour i.
 * FAB_INVALID_TOPOLOGY without a topology. */
FAB_API fab_error fab_neighbors(const fab_comm *comm, size_t *destinations, size_t *sources);
FAB_API fab_error fab_neighbor_ranks(const fab_comm *comm, int destinations[], int sources[]);
/* @} */

/* ---- Who will send to this rank ---- */

/* The ranks that have this one among their destinations, in ascending order, and their blocks. */
typedef struct fab_sources fab_sources;

/* Collective; returns when this rank knows all of its sources (fab/discover.h). `destination_ranks` names each rank
 * once. Block i of `blocks`, which lie one behind the other, goes to destination i. `block_bytes` is the same on all
 * ranks; if it is 0, `blocks` may be NULL. The caller frees *found. FAB_INVALID_RANK for a destination outside the
 * communicator, FAB_INVALID_ARGUMENT for one that stands twice, FAB_INVALID_COUNT if a block from each rank would not
 * fit into memory. */
FAB_API fab_error fab_discover(const fab_comm *comm, size_t destinations, const int destination_ranks[],
                               const void *blocks, size_t block_bytes, fab_sources **found);
/* The number of sources; 0 if `sources` is NULL. */
FAB_API size_t fab_sources_count(const fab_sources *sources);
/* @{ */
/* The ranks of the sources, and their blocks, one behind the other; valid as long as `sources` lives. Block i came from
 * rank i of the list; without sources, or bytes, there may be no address. */
FAB_API const int *fab_sources_ranks(const fab_sources *sources);
FAB_API const void *fab_sources_blocks(const fab_sources *sources);
/* @} */
/* Frees the ranks and their blocks. `sources` may be NULL. */
FAB_API void fab_sources_free(fab_sources *sources);

/* ---- Requests ---- */

/* A request, in memory of the caller's. Initialise it with {0}. Do not copy or move it while it is active. */
typedef struct fab_request {
  void *active;      /* NULL: nothing is in flight */
  uint64_t state[7]; /* of fab's */
} fab_request;

/* Source, tag and size of a message that a receive took, or that a probe found. */
typedef struct fab_message {
  int source;   /* the rank that sent it; FAB_NO_RANK if there is no message */
  int tag;      /* the tag that the sender gave it */
  size_t bytes; /* its size, which may be less than the receive has room for */
} fab_message;

/* Returns when the operation is complete. */
FAB_API fab_error fab_perform(const fab_comm *comm, fab_operation operation);
/* Returns at once. The buffers belong to the operation until a wait or test reports that it is complete. */
FAB_API fab_error fab_start(const fab_comm *comm, fab_operation operation, fab_request *request);

/* @{ */
/* These calls wait for a request, or test it. A request that is not active counts as complete. After a failure it is
 * not active. *complete is 0 if the operation goes on, as after `seconds` at most; otherwise 1. `message` may be NULL.
 */
FAB_API fab_error fab_wait(fab_request *request, fab_message *message);
FAB_API fab_error fab_wait_for(fab_request *request, double seconds, int *complete);
FAB_API fab_error fab_test(fab_request *request, int *complete, fab_message *message);
/* @} */
/* Waits until all requests are complete, and returns the first failure. */
FAB_API fab_error fab_wait_all(size_t count, fab_request requests[]);
/* Waits `seconds` at most. *complete is 0 if one is not complete by then; those that were active then stay so. */
FAB_API fab_error fab_wait_all_for(size_t count, fab_request requests[], double seconds, int *complete);
/* Cancels a receive that no message has matched. The request must still be waited for; that returns FAB_CANCELLED. */
FAB_API fab_error fab_cancel(fab_request *request);

/* A persistent exchange: all ranks make theirs in the same order, once, and start it many times. */
typedef struct fab_exchange fab_exchange;
/* Makes one from an operation. Its arrays need not outlive the call; its buffers belong to the exchange while that is
 * active. The caller frees *made. */
FAB_API fab_error fab_make_persistent(const fab_comm *comm, fab_operation operation, fab_exchange **made);
/* Returns at once. FAB_INVALID_ARGUMENT if the exchange is active, FAB_CANCELLED if the context is closed. */
FAB_API fab_error fab_exchange_start(fab_exchange *exchange);
/* @{ */
/* These calls wait for the exchange that was started, or test it. One that is not active counts as complete. After a
 * failure it may be started again. *complete is 0 if the exchange goes on, as after `seconds` at most; otherwise 1. */
FAB_API fab_error fab_exchange_wait(fab_exchange *exchange);
FAB_API fab_error fab_exchange_wait_for(fab_exchange *exchange, double seconds, int *complete);
FAB_API fab_error fab_exchange_test(fab_exchange *exchange, int *complete);
/* @} */
/* Returns when the block from source number `source` of a neighbour exchange has arrived. */
FAB_API fab_error fab_exchange_wait_source(fab_exchange *exchange, size_t source);
/* Waits `seconds` at most. *arrived is 0 if the block has not arrived by then. */
FAB_API fab_error fab_exchange_wait_source_for(fab_exchange *exchange, size_t source, double seconds, int *arrived);
/* Waits for the exchange if it is active, and frees it. `exchange` may be NULL. */
FAB_API void fab_exchange_free(fab_exchange *exchange);

/* A descriptor for event loops: it is readable when an operation has ended or needs a test. See Context::event_fd. */
FAB_API fab_error fab_event_fd(const fab_context *context, int *fd);
/* Makes that descriptor unreadable until another operation ends. `context` may be NULL. */
FAB_API void fab_clear_events(const fab_context *context);

/* Calls, messages and waits of this rank since the context was opened, all its operations together. Times are in
 * nanoseconds; a wait that its first polls end is none of the waits. */
typedef struct fab_totals {
  uint64_t calls;             /* exchanges, collectives, sends and receives that were started */
  uint64_t sent_messages;     /* that these sent */
  uint64_t sent_bytes;        /* their bytes, fab's frames included */
  uint64_t received_messages; /* that these received */
  uint64_t received_bytes;    /* their bytes, fab's frames included */
  uint64_t waits;             /* how many */
  uint64_t waited_ns;         /* in all of them */
  uint64_t longest_wait_ns;   /* in the longest */
} fab_totals;
/* Writes the totals up to now. Takes time that grows with the plans and peers of this rank. */
FAB_API fab_error fab_statistics_totals(const fab_context *context, fab_totals *totals);
/* All of the statistics as JSON, which ends with a null character. `needed`, unless it is NULL, becomes the bytes that
 * takes, that character included. FAB_NO_RESOURCES if `size` is less: then the buffer is left alone, and may be NULL
 * if `size` is 0. */
FAB_API fab_error fab_statistics_json(const fab_context *context, char *buffer, size_t size, size_t *needed);

/* ---- Messages ---- */

#define FAB_ANY_SOURCE (-1) /* as the rank of a receive or probe: any */
#define FAB_ANY_TAG (-1)    /* as the tag of a receive or probe: any */
#define FAB_NO_RANK (-2)    /* no rank: a send to it sends nothing, and a receive from it takes no bytes */

/* @{ */
/* Sends, receives or looks for one message of `bytes` bytes, as the function of that name in fab/point_to_point.h.
 * Sends are in standard mode. fab_isend and fab_irecv return at once, and their memory belongs to fab until the request
 * is complete. fab_iprobe sets *found to 1 if there is a message, otherwise to 0. `message` may be NULL. Tags are 0 to
 * 2^31 - 1. FAB_INVALID_RANK for a rank outside the communicator, FAB_INVALID_ARGUMENT for a negative tag or an active
 * request, FAB_TRUNCATED if a message is larger than the room for it, which is then left alone. */
FAB_API fab_error fab_send(const fab_comm *comm, const void *data, size_t bytes, int rank, int tag);
FAB_API fab_error fab_recv(const fab_comm *comm, void *data, size_t bytes, int rank, int tag, fab_message *message);
FAB_API fab_error fab_isend(const fab_comm *comm, const void *data, size_t bytes, int rank, int tag,
                            fab_request *request);
FAB_API fab_error fab_irecv(const fab_comm *comm, void *data, size_t bytes, int rank, int tag, fab_request *request);
FAB_API fab_error fab_probe(const fab_comm *comm, int rank, int tag, fab_message *message);
FAB_API fab_error fab_iprobe(const fab_comm *comm, int rank, int tag, int *found, fab_message *message);
/* @} */
/* @{ */
/* Sends and receives at the same time, so rings and chains of such calls do not deadlock. Either rank may be
 * FAB_NO_RANK. `out` and `in` must not overlap. The request is complete once both messages are. */
FAB_API fab_error fab_sendrecv(const fab_comm *comm, const void *out, size_t out_bytes, int to, int to_tag, void *in,
                               size_t in_bytes, int from, int from_tag, fab_message *message);
FAB_API fab_error fab_isendrecv(const fab_comm *comm, const void *out, size_t out_bytes, int to, int to_tag, void *in,
                                size_t in_bytes, int from, int from_tag, fab_request *request);
/* @} */
/* @{ */
/* The message received replaces the `bytes` bytes sent, as far as it reaches. */
FAB_API fab_error fab_sendrecv_replace(const fab_comm *comm, void *data, size_t bytes, int to, int to_tag, int from,
                                       int from_tag, fab_message *message);
FAB_API fab_error fab_isendrecv_replace(const fab_comm *comm, void *data, size_t bytes, int to, int to_tag, int from,
                                        int from_tag, fab_request *request);
/* @} */

/* A message that is described once and sent, or received, many times (fab/persistent_message.h). Each start does what
 * fab_isend or fab_irecv does: it matches in the order of starts, and the other rank need not have a persistent
 * message. `data` belongs to the message while it is active. */
typedef struct fab_persistent_message fab_persistent_message;
/* @{ */
/* Makes a message; nothing is sent or received before a start. FAB_INVALID_RANK for a rank outside the communicator,
 * and FAB_INVALID_ARGUMENT for a negative tag; a receive may give FAB_ANY_SOURCE and FAB_ANY_TAG. */
FAB_API fab_error fab_persistent_send(const fab_comm *comm, const void *data, size_t bytes, int rank, int tag,
                                      fab_persistent_message **made);
FAB_API fab_error fab_persistent_recv(const fab_comm *comm, void *data, size_t bytes, int rank, int tag,
                                      fab_persistent_message **made);
/* @} */
/* @{ */
/* One message each way: each start does what fab_isendrecv or fab_isendrecv_replace does. */
FAB_API fab_error fab_persistent_sendrecv(const fab_comm *comm, const void *out, size_t out_bytes, int to, int to_tag,
                                          void *in, size_t in_bytes, int from, int from_tag,
                                          fab_persistent_message **made);
FAB_API fab_error fab_persistent_sendrecv_replace(const fab_comm *comm, void *data, size_t bytes, int to, int to_tag,
                                                  int from, int from_tag, fab_persistent_message **made);
/* @} */
/* Returns at once. FAB_INVALID_ARGUMENT if the message is active. */
FAB_API fab_error fab_persistent_message_start(fab_persistent_message *persistent);
/* @{ */
/* These calls wait for the message that was started, or test it. One that is not active counts as complete. After a
 * failure it may be started again. *complete is 0 if the message is not complete, as after `seconds` at most; it then
 * stays active. `message`, which may be NULL, is set for a receive. */
FAB_API fab_error fab_persistent_message_wait(fab_persistent_message *persistent, fab_message *message);
FAB_API fab_error fab_persistent_message_wait_for(fab_persistent_message *persistent, double seconds, int *complete);
FAB_API fab_error fab_persistent_message_test(fab_persistent_message *persistent, int *complete, fab_message *message);
/* @} */
/* Cancels a started receive that no message has matched. It must still be waited for; that returns FAB_CANCELLED. */
FAB_API fab_error fab_persistent_message_cancel(fab_persistent_message *persistent);
/* Waits for the message if it is active, and frees it. `persistent` may be NULL. */
FAB_API void fab_persistent_message_free(fab_persistent_message *persistent);

/* ---- Halo exchanges (fab/halo.h) ---- */

/* One or two padded blocks, and the exchange that fills their halos. One block is current. */
typedef struct fab_halo fab_halo;

/* Options of a halo exchange. Arrays have one entry per dimension, slowest first. */
typedef struct fab_halo_options {
  int dimensions;         /* 1 to 5: the length of the arrays */
  const int *grid;        /* ranks per dimension */
  const int *periodic;    /* 1 if the first and the last block along the dimension are neighbours, otherwise 0 */
  const size_t *interior; /* the rank's own cells, at least 1 */
  const size_t *width;    /* cells of halo on each side; 0: no halo along this dimension */
  size_t element_bytes;   /* bytes of one cell */
  int corners;            /* 1: also exchange across edges and corners */
  int buffers;            /* 1, or 2: two fields of this shape */
  int reorder;            /* 1: ranks may change places so that fewer bytes cross between nodes */
} fab_halo_options;

/* Collective over `comm`. A rank outside the grid gets *made == NULL. The memory of the blocks is zero. The options
 * need not outlive the call. */
FAB_API fab_error fab_halo_make(const fab_comm *comm, const fab_halo_options *options, fab_halo **made);
/* Waits for active exchanges, and frees the halo and its blocks. `halo` may be NULL. */
FAB_API void fab_halo_free(fab_halo *halo);
/* The Cartesian communicator of the grid. The halo owns it. */
FAB_API const fab_comm *fab_halo_comm(const fab_halo *halo);
/* The current padded block, in C order. */
FAB_API void *fab_halo_field(const fab_halo *halo);
/* The other padded block; NULL if there is only one. */
FAB_API void *fab_halo_other_field(const fab_halo *halo);
/* @{ */
/* Per dimension: the number of cells of the padded block, and the distance in cells from one cell to the next.
 * Writes nothing if an argument is a null pointer. */
FAB_API void fab_halo_extents(const fab_halo *halo, size_t extents[]);
FAB_API void fab_halo_strides(const fab_halo *halo, size_t strides[]);
/* @} */
/* The rank on one side; `side` is -1, 0 or 1 per dimension. *rank is FAB_NO_RANK at the end of the grid. */
FAB_API fab_error fab_halo_neighbor(const fab_halo *halo, const int side[], int *rank);
/* Starts the exchange of the current block, and returns at once. Boundary cells are read until it is finished, and halo
 * cells are written. FAB_INVALID_ARGUMENT if its last exchange was not finished. */
FAB_API fab_error fab_halo_start(fab_halo *halo);
/* Returns when all halos have arrived and the rank's own cells may be written; at once if nothing is active. */
FAB_API fab_error fab_halo_finish(fab_halo *halo);
/* Waits `seconds` at most. *complete is 0 if halos are missing by then; the exchange then stays active. */
FAB_API fab_error fab_halo_finish_for(fab_halo *halo, double seconds, int *complete);
/* Returns when the halo on one side has arrived; at once if nothing is active. fab_halo_finish must still be called.
 * `side` is -1, 0 or 1 per dimension; FAB_INVALID_ARGUMENT if there is no halo on that side. */
FAB_API fab_error fab_halo_finish_side(fab_halo *halo, const int side[]);
/* Waits `seconds` at most. *complete is 0 if the halo on that side has not arrived by then. */
FAB_API fab_error fab_halo_finish_side_for(fab_halo *halo, const int side[], double seconds, int *complete);
/* Waits for a halo that has not been reported since the start, and writes its side. *found is 0 once all have been. */
FAB_API fab_error fab_halo_finish_any(fab_halo *halo, int side[], int *found);
/* Makes the other padded block current. An active exchange goes on. FAB_INVALID_ARGUMENT if there is only one block. */
FAB_API fab_error fab_halo_flip(fab_halo *halo);

/* ---- The first of several operations ---- */

/* The type of the object that a fab_waitable refers to. */
typedef enum fab_waitable_kind FAB_ANY_INT {
  FAB_WAITABLE_REQUEST,  /* a fab_request */
  FAB_WAITABLE_EXCHANGE, /* a fab_exchange */
  FAB_WAITABLE_MESSAGE,  /* a fab_persistent_message */
  FAB_WAITABLE_HALO      /* a fab_halo */
} fab_waitable_kind;

/* An operation that fab_wait_any may wait for. One of the functions below makes it. */
typedef struct fab_waitable {
  fab_waitable_kind kind; /* the type of the object */
  const void *object;     /* the operation; it must live until the wait returns */
} fab_waitable;

/* The functions below are this one, with the kind of their object. */
static inline fab_waitable fab_waitable_of(fab_waitable_kind kind, const void *object) {
  fab_waitable waitable = {FAB_WAITABLE_REQUEST, NULL};
  waitable.kind = kind;
  waitable.object = object;
  return waitable;
}
/* @{ */
/* An operation to wait for; if it is not active, the wait passes it over. For a halo, it is the exchange of the current
 * block. */
static inline fab_waitable fab_waitable_request(const fab_request *request) {
  return fab_waitable_of(FAB_WAITABLE_REQUEST, request);
}
static inline fab_waitable fab_waitable_exchange(const fab_exchange *exchange) {
  return fab_waitable_of(FAB_WAITABLE_EXCHANGE, exchange);
}
static inline fab_waitable fab_waitable_message(const fab_persistent_message *persistent) {
  return fab_waitable_of(FAB_WAITABLE_MESSAGE, persistent);
}
static inline fab_waitable fab_waitable_halo(const fab_halo *halo) { return fab_waitable_of(FAB_WAITABLE_HALO, halo); }
/* @} */

/* Waits until one of `count` operations is complete or has failed, and writes its index. The operation stays active:
 * its own wait, or fab_halo_finish, then returns at once and reports how it ended. Operations that are not active are
 * passed over. FAB_INVALID_ARGUMENT if none is active. */
FAB_API fab_error fab_wait_any(size_t count, const fab_waitable waitables[], size_t *index);
/* Waits `seconds` at most. *found is 0 if none is complete by then; otherwise it is 1 and *index is set. */
FAB_API fab_error fab_wait_any_for(size_t count, const fab_waitable waitables[], double seconds, size_t *index,
                                   int *found);

/* ---- Memory ---- */

/* Memory that ranks of one node copy from only once. NULL if there is no memory left. */
FAB_API void *fab_buffer_alloc(size_t bytes);
/* Frees memory from fab_buffer_alloc; `memory` may be NULL. FAB_INVALID_ARGUMENT for another address. */
FAB_API fab_error fab_buffer_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif /* FAB_FAB_C_H */
