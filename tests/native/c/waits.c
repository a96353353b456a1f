/* Persistent messages; the first of several operations; waits of a halo exchange for single sides and with a limit. */
#include <stdlib.h>
#include <string.h>

#include "testing.h"

static void messages_again_and_again(const fab_comm *world) {
  fab_persistent_message *sent = NULL;
  fab_persistent_message *received = NULL;
  fab_message message = {0, 0, 0};
  int out = -1;
  int in = -1;
  int complete = 1;
  int i;
  DO(fab_persistent_send(world, &out, sizeof(out), next(), 8, &sent));
  DO(fab_persistent_recv(world, &in, sizeof(in), FAB_ANY_SOURCE, 8, &received));
  DO(fab_persistent_message_wait(received, &message)); /* not active */
  for (i = 0; i < 3; ++i) {
    out = 10 * rank + i;
    DO(fab_persistent_message_start(received));
    REFUSED(fab_persistent_message_start(received), FAB_INVALID_ARGUMENT, "active already");
    DO(fab_persistent_message_wait_for(received, 0.001, &complete));
    CHECK(!complete);
    DO(fab_perform(world, fab_barrier())); /* no message before all have looked */
    DO(fab_persistent_message_start(sent));
    DO(fab_persistent_message_wait(received, &message));
    CHECK(in == 10 * previous() + i);
    CHECK(message.source == previous() && message.tag == 8 && message.bytes == sizeof(in));
    DO(fab_persistent_message_wait_for(sent, 60, &complete));
    CHECK(complete);
  }
  /* The partner's message need not be persistent. */
  DO(fab_persistent_message_start(received));
  DO(fab_send(world, &rank, sizeof(rank), next(), 8));
  for (complete = 0; !complete;) DO(fab_persistent_message_test(received, &complete, &message));
  CHECK(in == previous() && message.source == previous());
  fab_persistent_message_free(sent);
  fab_persistent_message_free(received);
  fab_persistent_message_free(NULL);
}

static void messages_both_ways(const fab_comm *world) {
  fab_persistent_message *passing = NULL;
  fab_persistent_message *exchanging = NULL;
  fab_request request = {0};
  fab_message message = {0, 0, 0};
  int token = rank;
  int in = -1;
  int i;
  DO(fab_sendrecv(world, &rank, sizeof(rank), next(), 20, &in, sizeof(in), previous(), 20, &message));
  CHECK(in == previous() && message.source == previous() && message.tag == 20 && message.bytes == sizeof(in));
  in = -1;
  DO(fab_isendrecv(world, &rank, sizeof(rank), next(), 21, &in, sizeof(in), FAB_ANY_SOURCE, 21, &request));
  DO(fab_wait(&request, &message));
  CHECK(in == previous() && message.source == previous());
  DO(fab_persistent_sendrecv_replace(world, &token, sizeof(token), next(), 22, previous(), 22, &passing));
  for (i = 0; i < size; ++i) {
    CHECK(token == (rank - i + size) % size);
    if (i % 3 == 0) {
      DO(fab_sendrecv_replace(world, &token, sizeof(token), next(), 22, previous(), 22, NULL));
    } else if (i % 3 == 1) {
      DO(fab_isendrecv_replace(world, &token, sizeof(token), next(), 22, previous(), 22, &request));
      DO(fab_wait(&request, NULL));
    } else {
      DO(fab_persistent_message_start(passing));
      DO(fab_persistent_message_wait(passing, &message));
      CHECK(message.source == previous());
    }
  }
  CHECK(token == rank);
  DO(fab_persistent_sendrecv(world, &token, sizeof(token), FAB_NO_RANK, 0, &in, sizeof(in), FAB_NO_RANK, 0,
                             &exchanging));
  DO(fab_persistent_message_start(exchanging));
  DO(fab_persistent_message_wait(exchanging, NULL));
  REFUSED(fab_sendrecv(world, NULL, 4, 0, 1, &in, sizeof(in), 0, 1, NULL), FAB_INVALID_ARGUMENT,
          "sendrecv: data is a null pointer; valid is the address of 4 bytes");
  REFUSED(fab_isendrecv_replace(world, &in, sizeof(in), size, 1, 0, 1, &request), FAB_INVALID_RANK,
          "isendrecv_replace: to.rank is ");
  fab_persistent_message_free(passing);
  fab_persistent_message_free(exchanging);
}

static void cancelled_message(const fab_comm *world) {
  fab_persistent_message *received = NULL;
  int in = -1;
  DO(fab_persistent_recv(world, &in, sizeof(in), previous(), 9, &received));
  DO(fab_persistent_message_start(received));
  DO(fab_persistent_message_cancel(received));
  CHECK(fab_persistent_message_wait(received, NULL) == FAB_CANCELLED);
  DO(fab_perform(world, fab_barrier()));
  DO(fab_persistent_message_start(received));
  DO(fab_send(world, &rank, sizeof(rank), next(), 9));
  DO(fab_persistent_message_wait(received, NULL));
  CHECK(in == previous());
  fab_persistent_message_free(received);
}

static void refused_messages(const fab_comm *world) {
  fab_persistent_message *made = NULL;
  int complete = 0;
  REFUSED(fab_persistent_send(world, &rank, sizeof(rank), size, 1, &made), FAB_INVALID_RANK,
          "persistent_send: to.rank is ");
  REFUSED(fab_persistent_recv(world, &complete, sizeof(complete), 0, -5, &made), FAB_INVALID_ARGUMENT,
          "persistent_recv: from.tag is -5; valid are 0 to ");
  REFUSED(fab_persistent_send(world, NULL, 1, 0, 1, &made), FAB_INVALID_ARGUMENT,
          "persistent_send: data is a null pointer; valid is the address of 1 bytes");
  REFUSED(fab_send(world, NULL, 4, 0, 1), FAB_INVALID_ARGUMENT,
          "send: data is a null pointer; valid is the address of 4 bytes");
  REFUSED(fab_recv(world, NULL, 4, 0, 1, NULL), FAB_INVALID_ARGUMENT,
          "recv: data is a null pointer; valid is the address of 4 bytes");
  REFUSED(fab_persistent_send(world, &rank, sizeof(rank), 0, 1, NULL), FAB_INVALID_ARGUMENT, "made is a null pointer");
  REFUSED(fab_persistent_send(NULL, &rank, sizeof(rank), 0, 1, &made), FAB_INVALID_ARGUMENT, "comm is a null pointer");
  REFUSED(fab_persistent_message_start(NULL), FAB_INVALID_ARGUMENT, "persistent is a null pointer");
  REFUSED(fab_persistent_message_test(NULL, &complete, NULL), FAB_INVALID_ARGUMENT, "persistent is a null pointer");
  CHECK(made == NULL);
}

/* ---- A ring of blocks of two cells, with one cell of halo on each side. ---- */

static const int to_the_left = -1;
static const int to_the_right = 1;

static fab_halo *ring_of_blocks(const fab_comm *world) {
  const int periodic = 1;
  const size_t interior = 2;
  const size_t width = 1;
  fab_halo *halo = NULL;
  const fab_halo_options options = {1, &size, &periodic, &interior, &width, sizeof(int), 0, 1, 0};
  DO(fab_halo_make(world, &options, &halo));
  return halo;
}

static void put_cells(fab_halo *halo, int step) {
  int *const cells = fab_halo_field(halo);
  cells[0] = cells[3] = -1;
  cells[1] = 100 * step + 2 * rank;
  cells[2] = 100 * step + 2 * rank + 1;
}
static int left_is_there(fab_halo *halo, int step) {
  return ((int *)fab_halo_field(halo))[0] == 100 * step + 2 * previous() + 1;
}
static int right_is_there(fab_halo *halo, int step) {
  return ((int *)fab_halo_field(halo))[3] == 100 * step + 2 * next();
}

/* The neighbours have not started, so nothing is complete after a while. */
static void halo_with_a_limit(const fab_comm *world, fab_halo *halo) {
  int complete = 1;
  put_cells(halo, 1);
  if (size > 1) {
    if (rank == 0) {
      DO(fab_halo_start(halo));
      DO(fab_halo_finish_for(halo, 0.01, &complete));
      CHECK(!complete);
    }
    DO(fab_perform(world, fab_barrier()));
  }
  if (size == 1 || rank > 0) DO(fab_halo_start(halo));
  for (complete = 0; !complete && failures == 0;) DO(fab_halo_finish_for(halo, 1, &complete));
  CHECK(left_is_there(halo, 1) && right_is_there(halo, 1));
  DO(fab_halo_finish_for(halo, 0, &complete)); /* not active */
  CHECK(complete);
}

static void halo_by_side(fab_halo *halo) {
  int step;
  for (step = 2; step < 5; ++step) {
    put_cells(halo, step);
    DO(fab_halo_start(halo));
    DO(fab_halo_finish_side(halo, &to_the_right));
    CHECK(right_is_there(halo, step));
    DO(fab_halo_finish_side(halo, &to_the_left));
    CHECK(left_is_there(halo, step));
    DO(fab_halo_finish(halo));
  }
}

static void refused_halo_waits(fab_halo *halo) {
  const int bad = 2;
  const int middle = 0;
  int complete = 0;
  const double nan = strtod("nan", NULL);
  REFUSED(fab_halo_finish_side(halo, NULL), FAB_INVALID_ARGUMENT, "side is a null pointer");
  REFUSED(fab_halo_finish_side(halo, &bad), FAB_INVALID_ARGUMENT, "is 2; valid are -1, 0 and 1");
  REFUSED(fab_halo_finish_side(halo, &middle), FAB_INVALID_ARGUMENT, "there is no halo on side ");
  REFUSED(fab_halo_finish_side(NULL, &middle), FAB_INVALID_ARGUMENT, "halo is a null pointer");
  REFUSED(fab_halo_finish_for(halo, 1, NULL), FAB_INVALID_ARGUMENT, "complete is a null pointer");
  REFUSED(fab_halo_finish_for(halo, nan, &complete), FAB_INVALID_ARGUMENT, "seconds is NaN");
}

/* ---- The first of several, of which one alone can end ---- */

enum { REQUEST, EXCHANGE, MESSAGE, HALO, KINDS };

typedef struct {
  fab_comm *ring; /* of its own: the exchange's neighbours */
  fab_request request;
  fab_exchange *exchange;
  fab_persistent_message *message;
  fab_halo *halo;
  int in[4];
} several;

static void make_several(const fab_comm *world, several *made) {
  static const int out[2] = {1, 2};
  const int periodic = 1;
  memset(made, 0, sizeof(*made));
  DO(fab_cartesian(world, 1, &size, &periodic, 0, &made->ring));
  DO(fab_make_persistent(made->ring, fab_neighbor_xchg(out, made->in, 1, FAB_INT32), &made->exchange));
  DO(fab_persistent_recv(world, &made->in[2], sizeof(int), previous(), 21, &made->message));
  made->halo = ring_of_blocks(world);
}
static void free_several(several *made) {
  fab_halo_free(made->halo);
  fab_persistent_message_free(made->message);
  fab_exchange_free(made->exchange);
  fab_comm_free(made->ring);
}

/* Both receives are active, and at most one of the exchanges. What ends the others is sent or started afterwards. */
static void only_this_one_ends(const fab_comm *world, several *made, size_t kind) {
  const fab_waitable all[KINDS] = {fab_waitable_request(&made->request), fab_waitable_exchange(made->exchange),
                                   fab_waitable_message(made->message), fab_waitable_halo(made->halo)};
  size_t index = KINDS;
  DO(fab_irecv(world, &made->in[3], sizeof(int), previous(), 20, &made->request));
  DO(fab_persistent_message_start(made->message));
  if (kind == REQUEST) DO(fab_send(world, &rank, sizeof(rank), next(), 20));
  if (kind == MESSAGE) DO(fab_send(world, &rank, sizeof(rank), next(), 21));
  if (kind == EXCHANGE) DO(fab_exchange_start(made->exchange));
  if (kind == HALO) DO(fab_halo_start(made->halo));
  DO(fab_wait_any(KINDS, all, &index));
  CHECK(index == kind);
  DO(fab_perform(world, fab_barrier())); /* nothing else comes before all have looked */
  if (kind == EXCHANGE) DO(fab_exchange_wait(made->exchange));
  if (kind == HALO) DO(fab_halo_finish(made->halo));
  if (kind != REQUEST) DO(fab_send(world, &rank, sizeof(rank), next(), 20));
  if (kind != MESSAGE) DO(fab_send(world, &rank, sizeof(rank), next(), 21));
  DO(fab_wait(&made->request, NULL));
  DO(fab_persistent_message_wait(made->message, NULL));
  CHECK(made->in[2] == previous() && made->in[3] == previous());
  REFUSED(fab_wait_any(KINDS, all, &index), FAB_INVALID_ARGUMENT, "wait_any: none of the 4 operations is active");
}

static void refused_wait_any(const several *made) {
  size_t index = 0;
  fab_waitable bad = fab_waitable_halo(made->halo);
  REFUSED(fab_wait_any(1, &bad, NULL), FAB_INVALID_ARGUMENT, "wait_any: index is a null pointer");
  REFUSED(fab_wait_any(1, NULL, &index), FAB_INVALID_ARGUMENT, "wait_any: waitables is a null pointer");
  REFUSED(fab_wait_any(0, NULL, &index), FAB_INVALID_ARGUMENT, "wait_any: none of the 0 operations is active");
  bad.kind = (fab_waitable_kind)9;
  REFUSED(fab_wait_any(1, &bad, &index), FAB_INVALID_ARGUMENT, "wait_any: waitables[0].kind is 9; valid are 0 to 3");
  bad = fab_waitable_exchange(NULL);
  REFUSED(fab_wait_any(1, &bad, &index), FAB_INVALID_ARGUMENT, "wait_any: waitables[0].object is a null pointer");
}

static void first_of_several(const fab_comm *world) {
  several made;
  size_t kind;
  make_several(world, &made);
  for (kind = 0; kind < KINDS; ++kind) only_this_one_ends(world, &made, kind);
  refused_wait_any(&made);
  free_several(&made);
}

/* ---- With a limit: requests, a source, a side, and the first of several ---- */

static void requests_with_a_limit(const fab_comm *world) {
  fab_request both[2] = {{0}, {0}};
  fab_waitable all[2];
  int in[2] = {-1, -1};
  int complete = 1;
  int found = 1;
  size_t index = 7;
  DO(fab_irecv(world, &in[0], sizeof(int), previous(), 30, &both[0]));
  DO(fab_irecv(world, &in[1], sizeof(int), previous(), 31, &both[1]));
  all[0] = fab_waitable_request(&both[0]);
  all[1] = fab_waitable_request(&both[1]);
  DO(fab_wait_all_for(2, both, 0.001, &complete));
  CHECK(!complete && both[0].active != NULL && both[1].active != NULL);
  DO(fab_wait_any_for(2, all, 0.001, &index, &found));
  CHECK(!found && index == 7);
  DO(fab_perform(world, fab_barrier())); /* no message before all have looked */
  DO(fab_send(world, &rank, sizeof(rank), next(), 31));
  DO(fab_wait_any_for(2, all, 3600, &index, &found));
  CHECK(found && index == 1);
  DO(fab_perform(world, fab_barrier())); /* the other message is there too early otherwise */
  DO(fab_send(world, &rank, sizeof(rank), next(), 30));
  DO(fab_wait_all_for(2, both, 3600, &complete));
  CHECK(complete && both[0].active == NULL && both[1].active == NULL);
  CHECK(in[0] == previous() && in[1] == previous());
  DO(fab_wait_all_for(2, both, 0, &complete)); /* not active */
  CHECK(complete);
  REFUSED(fab_wait_all_for(2, both, 0, NULL), FAB_INVALID_ARGUMENT, "complete is a null pointer");
  REFUSED(fab_wait_all_for(1, NULL, 0, &complete), FAB_INVALID_ARGUMENT, "requests is a null pointer");
  REFUSED(fab_wait_all_for(2, both, strtod("nan", NULL), &complete), FAB_INVALID_ARGUMENT, "seconds is NaN");
  REFUSED(fab_wait_any_for(2, all, 0, &index, &found), FAB_INVALID_ARGUMENT, "none of the 2 operations is active");
  REFUSED(fab_wait_any_for(2, all, 0, NULL, &found), FAB_INVALID_ARGUMENT, "wait_any_for: index is a null pointer");
  REFUSED(fab_wait_any_for(2, all, 0, &index, NULL), FAB_INVALID_ARGUMENT, "wait_any_for: found is a null pointer");
  REFUSED(fab_wait_any_for(2, NULL, 0, &index, &found), FAB_INVALID_ARGUMENT,
          "wait_any_for: waitables is a null pointer");
  DO(fab_irecv(world, &in[0], sizeof(int), previous(), 32, &both[0]));
  DO(fab_cancel(&both[0]));
  CHECK(fab_wait_all_for(2, both, 3600, &complete) == FAB_CANCELLED);
}

static void sources_and_sides_with_a_limit(const fab_comm *world) {
  several made;
  int there = 1;
  make_several(world, &made);
  DO(fab_exchange_wait_source_for(made.exchange, 1, 0, &there)); /* not active */
  CHECK(there);
  put_cells(made.halo, 9);
  if (rank == 0 && size > 1) {
    DO(fab_exchange_start(made.exchange));
    DO(fab_exchange_wait_source_for(made.exchange, 1, 0.001, &there));
    CHECK(!there);
    DO(fab_halo_start(made.halo));
    DO(fab_halo_finish_side_for(made.halo, &to_the_left, 0.001, &there));
    CHECK(!there);
  }
  DO(fab_perform(world, fab_barrier()));
  if (rank > 0 || size == 1) {
    DO(fab_exchange_start(made.exchange));
    DO(fab_halo_start(made.halo));
  }
  DO(fab_exchange_wait_source_for(made.exchange, 1, 3600, &there));
  CHECK(there && made.in[1] == 1);
  DO(fab_exchange_wait(made.exchange));
  DO(fab_halo_finish_side_for(made.halo, &to_the_left, 3600, &there));
  CHECK(there && left_is_there(made.halo, 9));
  DO(fab_halo_finish(made.halo));
  REFUSED(fab_exchange_wait_source_for(made.exchange, 2, 0, &there), FAB_INVALID_ARGUMENT, "source is 2");
  REFUSED(fab_exchange_wait_source_for(made.exchange, 0, 0, NULL), FAB_INVALID_ARGUMENT, "arrived is a null pointer");
  REFUSED(fab_exchange_wait_source_for(NULL, 0, 0, &there), FAB_INVALID_ARGUMENT, "exchange is a null pointer");
  REFUSED(fab_halo_finish_side_for(made.halo, &to_the_left, 0, NULL), FAB_INVALID_ARGUMENT,
          "complete is a null pointer");
  REFUSED(fab_halo_finish_side_for(made.halo, NULL, 0, &there), FAB_INVALID_ARGUMENT, "side is a null pointer");
  free_several(&made);
}

void waits(const fab_comm *world) {
  fab_halo *halo;
  messages_again_and_again(world);
  messages_both_ways(world);
  cancelled_message(world);
  refused_messages(world);
  halo = ring_of_blocks(world);
  if (halo == NULL) return;
  halo_with_a_limit(world, halo);
  halo_by_side(halo);
  refused_halo_waits(halo);
  fab_halo_free(halo);
  first_of_several(world);
  requests_with_a_limit(world);
  sources_and_sides_with_a_limit(world);
}
