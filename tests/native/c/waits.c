/* Persistent messages; waits of a halo exchange for single sides and with a limit. */
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
  REFUSED(fab_persistent_send(world, NULL, 1, 0, 1, &made), FAB_INVALID_ARGUMENT, "data is a null pointer");
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

void waits(const fab_comm *world) {
  fab_halo *halo;
  messages_again_and_again(world);
  cancelled_message(world);
  refused_messages(world);
  halo = ring_of_blocks(world);
  if (halo == NULL) return;
  halo_with_a_limit(world, halo);
  halo_by_side(halo);
  refused_halo_waits(halo);
  fab_halo_free(halo);
}
