/* The C API, from C, without MPI in the process. Succeeds when every check holds. */
#include <fab/fab.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

int failures = 0;
int rank = 0;
int size = 0;

int next(void) { return (rank + 1) % size; }
int previous(void) { return (rank + size - 1) % size; }

void in_all_forms(const fab_comm *comm, fab_operation operation, void (*check)(void *), void *data) {
  fab_request request = {0};
  fab_exchange *exchange = NULL;
  int i;
  DO(fab_perform(comm, operation));
  check(data);
  DO(fab_start(comm, operation, &request));
  DO(fab_wait(&request, NULL));
  CHECK(request.active == NULL);
  check(data);
  DO(fab_make_persistent(comm, operation, &exchange));
  for (i = 0; i < 3; ++i) {
    DO(fab_exchange_start(exchange));
    DO(fab_exchange_wait(exchange));
    check(data);
  }
  fab_exchange_free(exchange);
}

static void check_nothing(void *data) { (void)data; }

static void check_sum(void *data) {
  double *const sum = data;
  CHECK(sum[0] == size * (size - 1) / 2.0);
  sum[0] = rank;
}

static void check_prefix(void *data) {
  double *const sum = data;
  CHECK(sum[0] == rank * (rank + 1) / 2.0);
  sum[0] = rank;
}

static void check_bcast(void *data) {
  int *const number = data;
  CHECK(*number == 77);
  *number = rank == size - 1 ? 77 : -1;
}

static void check_all_ranks(void *data) {
  int32_t *const all = data;
  int each;
  for (each = 0; each < size; ++each) CHECK(all[each] == each);
  for (each = 0; each < size; ++each) all[each] = each == rank ? rank : -1;
}

static void check_at_root(void *data) {
  int32_t *const all = data;
  int each;
  if (rank == 0)
    for (each = 0; each < size; ++each) CHECK(all[each] == each);
  for (each = 0; each < size; ++each) all[each] = -1;
}

static void check_part(void *data) {
  int32_t *const part = data;
  CHECK(part[0] == rank);
  part[0] = -1;
}

static void check_ring(void *data) {
  int64_t *const in = data;
  CHECK(in[0] == 100 + next() && in[1] == previous());
  in[0] = rank;
  in[1] = 100 + rank;
}

static void check_ring_of_the_standard(void *data) {
  int64_t *const in = data;
  CHECK(in[0] == 100 + previous() && in[1] == next());
  in[0] = rank;
  in[1] = 100 + rank;
}

static void check_shift(void *data) {
  int64_t *const in = data;
  CHECK(in[0] == previous());
  in[0] = rank;
}

static void collectives(const fab_comm *world) {
  double number = rank;
  double sum = 0;
  int one = rank == size - 1 ? 77 : -1;
  int32_t mine = rank;
  int32_t *const all = calloc((size_t)size, sizeof(*all));
  int64_t *const counts = calloc((size_t)size, sizeof(*counts));
  int64_t *const places = calloc((size_t)size, sizeof(*places));
  int each;
  for (each = 0; each < size; ++each) {
    counts[each] = 1;
    places[each] = each;
    all[each] = each == rank ? rank : -1;
  }
  in_all_forms(world, fab_barrier(), check_nothing, NULL);
  in_all_forms(world, fab_allreduce(&number, &sum, 1, FAB_FLOAT64, FAB_SUM), check_sum, &sum);
  in_all_forms(world, fab_allreduce(FAB_IN_PLACE, &number, 1, FAB_FLOAT64, FAB_SUM), check_sum, &number);
  in_all_forms(world, fab_scan(FAB_IN_PLACE, &number, 1, FAB_FLOAT64, FAB_SUM), check_prefix, &number);
  in_all_forms(world, fab_bcast(&one, 1, FAB_INT32, size - 1), check_bcast, &one);
  in_all_forms(world, fab_allgather(&mine, all, 1, FAB_INT32), check_all_ranks, all);
  in_all_forms(world, fab_allgather(FAB_IN_PLACE, all, 1, FAB_INT32), check_all_ranks, all);
  in_all_forms(world, fab_allgatherv(&mine, 1, all, counts, places, FAB_INT32), check_all_ranks, all);
  in_all_forms(world, fab_allgatherv(FAB_IN_PLACE, 0, all, counts, places, FAB_INT32), check_all_ranks, all);
  in_all_forms(world, fab_gather(&mine, all, 1, FAB_INT32, 0), check_at_root, all);
  {
    int32_t part = -1;
    int32_t *const numbers = calloc((size_t)size, sizeof(*numbers));
    for (each = 0; each < size; ++each) numbers[each] = each;
    in_all_forms(world, fab_scatter(numbers, &part, 1, FAB_INT32, 0), check_part, &part);
    free(numbers);
  }
  for (each = 0; each < size; ++each) all[each] = rank;
  DO(fab_perform(world, fab_alltoall(FAB_IN_PLACE, all, 1, FAB_INT32)));
  check_all_ranks(all);
  for (each = 0; each < size; ++each) all[each] = rank;
  DO(fab_perform(world, fab_alltoallv(FAB_IN_PLACE, NULL, NULL, all, counts, places, FAB_INT32)));
  check_all_ranks(all);
  for (each = 0; each < size; ++each) all[each] = each;
  DO(fab_perform(world, fab_reduce_scatter_block(all, &mine, 1, FAB_INT32, FAB_MAX)));
  CHECK(mine == rank);
  sum = -1;
  number = rank + 1;
  DO(fab_perform(world, fab_reduce(&number, &sum, 1, FAB_FLOAT64, FAB_MAX, 0)));
  CHECK(sum == (rank == 0 ? size : -1));
  DO(fab_perform(world, fab_exscan(&number, &sum, 1, FAB_FLOAT64, FAB_SUM)));
  if (rank > 0) CHECK(sum == rank * (rank + 1) / 2.0);
  free(all);
  free(counts);
  free(places);
}

static void exchanges(const fab_comm *world) {
  const int periodic = 1;
  const int64_t ones[] = {1, 1};
  const int64_t places[] = {0, 1};
  int64_t out[2];
  int64_t in[2];
  int peers[2] = {-1, -1};
  size_t sources = 0;
  fab_comm *ring = NULL;
  fab_comm *twin = NULL;
  fab_comm *line = NULL;
  fab_exchange *exchange = NULL;
  int source;
  int target;
  DO(fab_cartesian(world, 1, &size, &periodic, 0, &ring));
  DO(fab_neighbors(ring, NULL, &sources));
  CHECK(sources == 2);
  DO(fab_neighbor_ranks(ring, NULL, peers));
  CHECK(peers[0] == next() && peers[1] == previous());
  in[0] = out[0] = rank;
  in[1] = out[1] = 100 + rank;
  in_all_forms(ring, fab_neighbor_xchg(out, in, 1, FAB_INT64), check_ring, in);
  in_all_forms(ring, fab_neighbor_xchg(FAB_IN_PLACE, in, 1, FAB_INT64), check_ring, in);
  in_all_forms(ring, fab_neighbor_xchgv(out, ones, places, in, ones, places, FAB_INT64), check_ring, in);
  in_all_forms(ring, fab_neighbor_alltoall(out, in, 1, FAB_INT64), check_ring_of_the_standard, in);
  in_all_forms(ring, fab_neighbor_alltoallv(FAB_IN_PLACE, NULL, NULL, in, ones, places, FAB_INT64),
               check_ring_of_the_standard, in);
  in_all_forms(ring, fab_cart_shift_xchg(out, in, 1, FAB_INT64, 0, 1), check_shift, in);
  DO(fab_perform(ring, fab_neighbor_allgather(out, in, 1, FAB_INT64)));
  CHECK(in[0] == previous() && in[1] == next());

  DO(fab_make_persistent(ring, fab_neighbor_xchg(out, in, 1, FAB_INT64), &exchange));
  DO(fab_exchange_start(exchange));
  DO(fab_exchange_wait_source(exchange, 1));
  CHECK(in[1] == previous());
  {
    int complete = 0;
    while (!complete) DO(fab_exchange_wait_for(exchange, 60, &complete));
    DO(fab_exchange_test(exchange, &complete));
    CHECK(complete);
  }
  fab_exchange_free(exchange);

  DO(fab_duplicate(ring, &twin));
  DO(fab_perform(twin, fab_neighbor_xchg(out, in, 1, FAB_INT64)));
  CHECK(in[0] == 100 + next() && in[1] == previous());
  source = previous();
  target = next();
  DO(fab_distributed_graph(world, 1, &source, 1, &target, 0, &line));
  DO(fab_perform(line, fab_neighbor_xchg(out, in, 1, FAB_INT64)));
  CHECK(in[0] == previous());
  fab_comm_free(line);
  fab_comm_free(twin);
  fab_comm_free(ring);

  /* A rank that is left over gets none. */
  if (size > 1) {
    const int places_of_grid = size - 1;
    const int open = 0;
    fab_comm *grid = NULL;
    DO(fab_cartesian(world, 1, &places_of_grid, &open, 0, &grid));
    CHECK((grid == NULL) == (rank == size - 1));
    fab_comm_free(grid);
  }
}

static void discoveries(const fab_comm *world) {
  const int target = next();
  const int beyond = size;
  const int pair[2] = {0, 0};
  const int64_t out = 100 + rank;
  int64_t in = 0;
  fab_sources *found = NULL;
  fab_comm *line = NULL;
  DO(fab_discover(world, 1, &target, &out, sizeof(out), &found));
  CHECK(fab_sources_count(found) == 1);
  CHECK(fab_sources_ranks(found)[0] == previous());
  memcpy(&in, fab_sources_blocks(found), sizeof(in));
  CHECK(in == 100 + previous());
  fab_sources_free(found);
  DO(fab_discover(world, 0, NULL, NULL, 0, &found));
  CHECK(fab_sources_count(found) == 0);
  fab_sources_free(found);
  fab_sources_free(NULL);
  CHECK(fab_discover(world, 1, &beyond, NULL, 0, &found) == FAB_INVALID_RANK);
  CHECK(strstr(fab_last_error(), "destinations[0]") != NULL);
  CHECK(fab_discover(world, 0, NULL, NULL, 0, NULL) == FAB_INVALID_ARGUMENT);
  REFUSED(fab_discover(world, 1, &target, &out, SIZE_MAX, &found), FAB_INVALID_COUNT,
          "discover: block_bytes is 18446744073709551615; valid are 0 to ");
  REFUSED(fab_discover(world, 2, pair, &out, SIZE_MAX / 2 + 1, &found), FAB_INVALID_COUNT, "discover: block_bytes is ");

  DO(fab_distributed_graph_to(world, 1, &target, 0, &line));
  in = 0;
  DO(fab_perform(line, fab_neighbor_xchg(&out, &in, 1, FAB_INT64)));
  CHECK(in == 100 + previous());
  fab_comm_free(line);
}

static void statistics(const fab_context *context) {
  fab_totals before = {0};
  fab_totals after = {0};
  size_t needed = 0;
  DO(fab_statistics_totals(context, &before));
  for (int i = 0; i < 3; ++i) DO(fab_perform(fab_world(context), fab_barrier()));
  DO(fab_statistics_totals(context, &after));
  CHECK(after.calls == before.calls + 3);
  CHECK((after.sent_messages > before.sent_messages) == (size > 1));
  CHECK(fab_statistics_json(context, NULL, 0, &needed) == FAB_NO_RESOURCES);
  char *const text = malloc(needed + 1000);
  DO(fab_statistics_json(context, text, needed + 1000, &needed));
  CHECK(strlen(text) + 1 == needed && strstr(text, "\"operation\":\"barrier\"") != NULL);
  CHECK(strstr(text, "\"operation\":\"send\"") != NULL && strstr(text, "\"operation\":\"recv\"") != NULL);
  free(text);
  CHECK(fab_statistics_totals(NULL, &after) == FAB_INVALID_ARGUMENT);
  CHECK(fab_statistics_totals(context, NULL) == FAB_INVALID_ARGUMENT);
}

static void messages(const fab_context *context) {
  const fab_comm *const world = fab_world(context);
  fab_request receive = {0};
  fab_request sent = {0};
  fab_request both[2] = {{0}, {0}};
  fab_message message = {0, 0, 0};
  int number = -1;
  const int mine = rank;
  int complete = 1;
  int fd = -1;
  DO(fab_irecv(world, &number, sizeof(number), previous(), 3, &receive));
  CHECK(fab_irecv(world, &number, sizeof(number), previous(), 3, &receive) == FAB_INVALID_ARGUMENT);
  CHECK(strstr(fab_last_error(), "the request is active") != NULL);
  DO(fab_wait_for(&receive, 0.01, &complete));
  CHECK(!complete);
  DO(fab_perform(world, fab_barrier()));
  DO(fab_event_fd(context, &fd));
  DO(fab_isend(world, &mine, sizeof(mine), next(), 3, &sent));
  for (complete = 0; !complete;) {
    struct pollfd event = {fd, POLLIN, 0};
    fab_clear_events(context);
    DO(fab_test(&receive, &complete, &message));
    if (!complete) CHECK(poll(&event, 1, -1) == 1);
    if (failures > 0) return;
  }
  CHECK(number == previous() && message.source == previous() && message.tag == 3 && message.bytes == sizeof(int));
  DO(fab_wait(&sent, NULL));
  DO(fab_wait(&sent, NULL)); /* not active */

  DO(fab_irecv(world, &number, sizeof(number), FAB_ANY_SOURCE, 4, &both[0]));
  DO(fab_isend(world, &mine, sizeof(mine), next(), 4, &both[1]));
  DO(fab_wait_all(2, both));
  CHECK(number == previous());

  DO(fab_isend(world, &mine, sizeof(mine), next(), 5, &sent));
  DO(fab_probe(world, previous(), FAB_ANY_TAG, &message));
  CHECK(message.tag == 5);
  DO(fab_recv(world, &number, sizeof(number), message.source, message.tag, NULL));
  DO(fab_wait(&sent, NULL));
  DO(fab_iprobe(world, FAB_ANY_SOURCE, 6, &complete, NULL));
  CHECK(!complete);

  DO(fab_irecv(world, &number, sizeof(number), previous(), 7, &receive));
  DO(fab_cancel(&receive));
  CHECK(fab_wait(&receive, NULL) == FAB_CANCELLED);
  CHECK(receive.active == NULL);
}

static void halos(const fab_comm *world) {
  const int periodic = 1;
  const size_t interior = 4;
  const size_t width = 1;
  const int left = -1;
  size_t extent = 0;
  size_t stride = 0;
  int step;
  int neighbor = 0;
  fab_halo *halo = NULL;
  fab_halo_options options;
  memset(&options, 0, sizeof(options));
  options.dimensions = 1;
  options.grid = &size;
  options.periodic = &periodic;
  options.interior = &interior;
  options.width = &width;
  options.element_bytes = sizeof(double);
  options.buffers = 2;
  DO(fab_halo_make(world, &options, &halo));
  if (halo == NULL) return;
  CHECK(fab_size(fab_halo_comm(halo)) == size);
  fab_halo_extents(halo, &extent);
  fab_halo_strides(halo, &stride);
  fab_halo_extents(NULL, &extent); /* writes nothing, and so do the next two */
  fab_halo_extents(halo, NULL);
  fab_halo_strides(NULL, &stride);
  CHECK(extent == 6 && stride == 1);
  DO(fab_halo_neighbor(halo, &left, &neighbor));
  CHECK(neighbor == previous());
  CHECK(fab_halo_field(halo) != fab_halo_other_field(halo));
  for (step = 0; step < 4; ++step) {
    double *const cells = fab_halo_field(halo);
    int sides = 0;
    int side = 0;
    int found = 1;
    size_t i;
    for (i = 1; i <= interior; ++i) cells[i] = rank + 100.0 * step;
    DO(fab_halo_start(halo));
    while (found) {
      DO(fab_halo_finish_any(halo, &side, &found));
      if (found) CHECK(cells[side < 0 ? 0 : 5] == (side < 0 ? previous() : next()) + 100.0 * step);
      sides += found;
    }
    CHECK(sides == 2);
    DO(fab_halo_finish(halo));
    DO(fab_halo_flip(halo));
  }
  fab_halo_free(halo);
  options.buffers = 3;
  CHECK(fab_halo_make(world, &options, &halo) == FAB_INVALID_ARGUMENT);
  CHECK(strstr(fab_last_error(), "buffers is 3") != NULL);
}

static void refusals(const fab_comm *world) {
  double number = 0;
  fab_request request = {0};
  fab_operation bad = fab_barrier();
  CHECK(fab_start(world, fab_bcast(&number, 1, FAB_FLOAT64, size), &request) == FAB_INVALID_RANK);
  CHECK(strncmp(fab_last_error(), "bcast: root", strlen("bcast: root")) == 0);
  CHECK(request.active == NULL);
  CHECK(fab_perform(world, fab_allreduce(FAB_IN_PLACE, &number, 1, FAB_FLOAT64, FAB_BIT_AND)) == FAB_INVALID_ARGUMENT);
  CHECK(strstr(fab_last_error(), "bit_and of float64 is not defined") != NULL);
  CHECK(fab_perform(world, fab_neighbor_xchg(&number, &number, 1, FAB_FLOAT64)) == FAB_INVALID_TOPOLOGY);
  CHECK(fab_perform(NULL, fab_barrier()) == FAB_INVALID_ARGUMENT);
  CHECK(strstr(fab_last_error(), "comm is a null pointer") != NULL);
  bad.type = (fab_type)99;
  CHECK(fab_perform(world, bad) == FAB_INVALID_ARGUMENT);
  CHECK(strstr(fab_last_error(), "operation.type is 99") != NULL);
  CHECK(fab_perform(world, fab_alltoallv(&number, NULL, NULL, &number, NULL, NULL, FAB_FLOAT64)) ==
        FAB_INVALID_ARGUMENT);
  CHECK(fab_perform(world, fab_allreduce(FAB_IN_PLACE, &number, (size_t)-1, FAB_FLOAT64, FAB_SUM)) ==
        FAB_INVALID_COUNT);
  CHECK(fab_send(world, &number, sizeof(number), 0, -5) == FAB_INVALID_ARGUMENT);
  CHECK(fab_wait(NULL, NULL) == FAB_INVALID_ARGUMENT);
  CHECK(fab_buffer_free(&number) == FAB_INVALID_ARGUMENT);
  DO(fab_perform(world, fab_barrier()));
}

static void all_are_in_step(const fab_comm *world) {
  const int32_t one = 1;
  int32_t sum = 0;
  DO(fab_perform(world, fab_allreduce(&one, &sum, 1, FAB_INT32, FAB_SUM)));
  CHECK(sum == size);
}

/* What rank 0 describes wrongly it has called all the same: the others' calls fail, and the next ones meet. */
static void refused_descriptions(const fab_comm *world) {
  int32_t number = rank;
  fab_request request = {0};
  fab_exchange *exchange = NULL;
  const fab_operation good = fab_bcast(&number, 1, FAB_INT32, 0);
  fab_operation bad = good;
  bad.type = (fab_type)99;
  if (size == 1) return;
  if (rank == 0)
    CHECK(fab_perform(world, bad) == FAB_INVALID_ARGUMENT);
  else
    CHECK(fab_perform(world, good) != FAB_SUCCESS);
  all_are_in_step(world);

  if (rank == 0) {
    CHECK(fab_start(world, good, NULL) == FAB_INVALID_ARGUMENT);
  } else {
    DO(fab_start(world, good, &request));
    CHECK(fab_wait(&request, NULL) != FAB_SUCCESS);
  }
  all_are_in_step(world);

  if (rank == 0) {
    CHECK(fab_make_persistent(world, good, NULL) == FAB_INVALID_ARGUMENT);
  } else {
    DO(fab_make_persistent(world, good, &exchange));
    DO(fab_exchange_start(exchange));
    CHECK(fab_exchange_wait(exchange) != FAB_SUCCESS);
    fab_exchange_free(exchange);
  }
  all_are_in_step(world);
}

/* Messages of one engine do not meet those of another. */
static void engines(void) {
  fab_context *several = NULL;
  fab_request received[2] = {{0}, {0}};
  int in[2] = {0, 0};
  int engine;
  CHECK(fab_open_engines(0, &several) == FAB_INVALID_ARGUMENT);
  CHECK(fab_open_engines(65, &several) == FAB_INVALID_ARGUMENT);
  CHECK(fab_open_engines(2, NULL) == FAB_INVALID_ARGUMENT);
  CHECK(several == NULL);
  DO(fab_open_engines(2, &several));
  CHECK(fab_world_of(several, 0) == fab_world(several));
  CHECK(fab_world_of(several, 1) != NULL && fab_world_of(several, 1) != fab_world(several));
  CHECK(fab_world_of(several, 2) == NULL && fab_world_of(several, -1) == NULL && fab_world_of(NULL, 0) == NULL);
  for (engine = 0; engine < 2; ++engine)
    DO(fab_irecv(fab_world_of(several, engine), &in[engine], sizeof(int), (rank + 1) % size, 5, &received[engine]));
  for (engine = 1; engine >= 0; --engine) {
    const int out = 10 * rank + engine;
    DO(fab_send(fab_world_of(several, engine), &out, sizeof(int), (rank + size - 1) % size, 5));
  }
  for (engine = 0; engine < 2; ++engine) {
    DO(fab_wait(&received[engine], NULL));
    CHECK(in[engine] == 10 * ((rank + 1) % size) + engine);
  }
  DO(fab_close(several));
}

int main(int argc, char **argv) {
  fab_context *context = NULL;
  void *memory;
  const int expected = argc > 1 && strncmp(argv[1], "--expect-ranks=", 15) == 0 ? atoi(argv[1] + 15) : -1;
  CHECK(strcmp(fab_last_error(), "") == 0);
  if (fab_open(&context) != FAB_SUCCESS) {
    fprintf(stderr, "%s\n", fab_last_error());
    return EXIT_FAILURE;
  }
  rank = fab_rank(fab_world(context));
  size = fab_size(fab_world(context));
  CHECK(expected == -1 || size == expected);
  collectives(fab_world(context));
  exchanges(fab_world(context));
  blocks_of_all_sizes(fab_world(context));
  messages(context);
  discoveries(fab_world(context));
  statistics(context);
  halos(fab_world(context));
  waits(fab_world(context));
  refusals(fab_world(context));
  refused_descriptions(fab_world(context));
  engines();
  memory = fab_buffer_alloc(5000);
  CHECK(memory != NULL);
  DO(fab_buffer_free(memory));
  fab_comm_free(NULL);
  DO(fab_close(context));
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
