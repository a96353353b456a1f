/* gatherv, scatterv, reduce_scatter and neighbor_allgatherv. Blocks differ in size, one in four is empty, they lie in
 * the reverse order of ranks with a gap behind each, and no two elements are equal: blocks that were mixed up are seen.
 */
#include <stdlib.h>
#include <string.h>

#include "testing.h"

enum { MOST_RANKS = 16, MOST_ELEMENTS = 3, ROOM = MOST_RANKS * (MOST_ELEMENTS + 1), GAP = -1 };

static int64_t counts[MOST_RANKS];
static int64_t places[MOST_RANKS];
static int32_t all[ROOM];
static int32_t mine[MOST_ELEMENTS];
static int root;

static int64_t count_of(int each) { return (each + 1) % (MOST_ELEMENTS + 1); }
static size_t own_count(void) { return (size_t)count_of(rank); }
static int32_t element(int each, int64_t i) { return 100 * (each + 1) + (int32_t)i; }

static void clear_all(void) {
  size_t i;
  for (i = 0; i < ROOM; ++i) all[i] = GAP;
}
static void put_block(int each) {
  int64_t i;
  for (i = 0; i < counts[each]; ++i) all[places[each] + i] = element(each, i);
}
static void put_all_blocks(void) {
  int each;
  clear_all();
  for (each = 0; each < size; ++each) put_block(each);
}
static void put_own_block(void) {
  clear_all();
  put_block(rank);
}
static void put_mine(void) {
  int64_t i;
  for (i = 0; i < count_of(rank); ++i) mine[i] = element(rank, i);
}
static void clear_mine(void) { memset(mine, 0, sizeof(mine)); }

/* Every block is in its place, and nothing was written between them. */
static int all_are_in_place(void) {
  int32_t found[ROOM];
  memcpy(found, all, sizeof(found));
  put_all_blocks();
  return memcmp(found, all, sizeof(found)) == 0;
}
static int mine_is_there(void) {
  int64_t i;
  for (i = 0; i < count_of(rank); ++i)
    if (mine[i] != element(rank, i)) return 0;
  for (; i < MOST_ELEMENTS; ++i)
    if (mine[i] != 0) return 0;
  return 1;
}

static void describe_blocks(void) {
  int64_t end = 0;
  int each;
  for (each = size - 1; each >= 0; --each) {
    counts[each] = count_of(each);
    places[each] = end;
    end += counts[each] + 1;
  }
}

static void check_gathered(void *data) {
  (void)data;
  if (rank == root) CHECK(all_are_in_place());
  clear_all();
}
static void check_gathered_in_place(void *data) {
  (void)data;
  if (rank == root) CHECK(all_are_in_place());
  put_own_block();
}
static void check_scattered(void *data) {
  (void)data;
  CHECK(mine_is_there());
  clear_mine();
}
static void check_scattered_in_place(void *data) {
  (void)data;
  CHECK(rank == root ? all_are_in_place() : mine_is_there());
  clear_mine();
}

static void gatherv(const fab_comm *world) {
  const fab_operation others = fab_gatherv(mine, own_count(), NULL, NULL, NULL, FAB_INT32, root);
  put_mine();
  clear_all();
  in_all_forms(world, rank == root ? fab_gatherv(mine, own_count(), all, counts, places, FAB_INT32, root) : others,
               check_gathered, NULL);
  put_own_block();
  in_all_forms(world, rank == root ? fab_gatherv(FAB_IN_PLACE, 0, all, counts, places, FAB_INT32, root) : others,
               check_gathered_in_place, NULL);
}

static void scatterv(const fab_comm *world) {
  const fab_operation others = fab_scatterv(NULL, NULL, NULL, mine, own_count(), FAB_INT32, root);
  put_all_blocks();
  clear_mine();
  in_all_forms(world, rank == root ? fab_scatterv(all, counts, places, mine, own_count(), FAB_INT32, root) : others,
               check_scattered, NULL);
  in_all_forms(world, rank == root ? fab_scatterv(FAB_IN_PLACE, counts, places, all, 0, FAB_INT32, root) : others,
               check_scattered_in_place, NULL);
}

/* ---- reduce_scatter: element i of rank r's vector is (r + 1) * (i + 1), and a vector has `counts` of each rank. ----
 */

static int64_t elements_before(int each) {
  int64_t elements = 0;
  int before;
  for (before = 0; before < each; ++before) elements += counts[before];
  return elements;
}
static void put_vector(void) {
  int32_t i;
  clear_all();
  for (i = 0; i < elements_before(size); ++i) all[i] = (rank + 1) * (i + 1);
}
static int32_t sum_at(int64_t i) { return size * (size + 1) / 2 * (int32_t)(i + 1); }

static void check_parts(void *data) {
  int32_t *const part = data;
  const int64_t first = elements_before(rank);
  int64_t i;
  for (i = 0; i < counts[rank]; ++i) CHECK(part[i] == sum_at(first + i));
  if (part == mine) {
    for (; i < MOST_ELEMENTS; ++i) CHECK(mine[i] == 0);
    clear_mine();
    return;
  }
  for (; i < elements_before(size); ++i) CHECK(all[i] == (rank + 1) * (i + 1));
  put_vector();
}

static void reduce_scatter(const fab_comm *world) {
  put_vector();
  clear_mine();
  in_all_forms(world, fab_reduce_scatter(all, mine, counts, FAB_INT32, FAB_SUM), check_parts, mine);
  in_all_forms(world, fab_reduce_scatter(FAB_IN_PLACE, all, counts, FAB_INT32, FAB_SUM), check_parts, all);
}

/* ---- neighbor_allgatherv ---- */

/* Where the blocks of the neighbours go, the later slot first. -1: no neighbour in the slot. */
static int neighbors[2];
static int64_t slot_counts[2];
static int64_t slot_places[2];

static void describe_slots(int before, int after) {
  neighbors[0] = before;
  neighbors[1] = after;
  slot_counts[0] = before < 0 ? 1 : count_of(before);
  slot_counts[1] = after < 0 ? 1 : count_of(after);
  slot_places[1] = 0;
  slot_places[0] = slot_counts[1] + 1;
}

static void check_slots(void *data) {
  int32_t expected[ROOM];
  int slot;
  int64_t i;
  (void)data;
  for (i = 0; i < ROOM; ++i) expected[i] = GAP;
  for (slot = 0; slot < 2; ++slot)
    for (i = 0; neighbors[slot] >= 0 && i < slot_counts[slot]; ++i)
      expected[slot_places[slot] + i] = element(neighbors[slot], i);
  CHECK(memcmp(all, expected, sizeof(expected)) == 0);
  clear_all();
}

static fab_operation to_neighbors(void) {
  return fab_neighbor_allgatherv(mine, own_count(), all, slot_counts, slot_places, FAB_INT32);
}

static void neighbor_allgatherv(const fab_comm *world) {
  int periodic;
  put_mine();
  clear_all();
  for (periodic = 0; periodic < 2; ++periodic) {
    fab_comm *row = NULL;
    DO(fab_cartesian(world, 1, &size, &periodic, 0, &row));
    describe_slots(periodic || rank > 0 ? previous() : -1, periodic || rank < size - 1 ? next() : -1);
    in_all_forms(row, to_neighbors(), check_slots, NULL);
    fab_comm_free(row);
  }
}

/* The sources come in the order in which the graph gives them: first the next rank, then this one itself. */
static void along_a_graph(const fab_comm *world) {
  fab_comm *graph = NULL;
  const int from[] = {next(), rank};
  const int to[] = {previous(), rank};
  DO(fab_distributed_graph(world, 2, from, 2, to, 0, &graph));
  describe_slots(from[0], from[1]);
  in_all_forms(graph, to_neighbors(), check_slots, NULL);
  fab_comm_free(graph);
}

/* ---- Bad arguments. All ranks give the same ones, or each is its own root, so all are refused before they send. ----
 */

static void refused_rooted(const fab_comm *world) {
  int64_t bad[MOST_RANKS];
  memcpy(bad, counts, sizeof(bad));
  REFUSED(fab_perform(world, fab_gatherv(mine, 0, all, counts, places, FAB_INT32, size)), FAB_INVALID_RANK,
          "gatherv: root");
  REFUSED(fab_perform(world, fab_scatterv(all, counts, places, mine, 0, FAB_INT32, -1)), FAB_INVALID_RANK,
          "scatterv: root -1");
  REFUSED(fab_perform(world, fab_gatherv(mine, own_count(), all, NULL, places, FAB_INT32, rank)), FAB_INVALID_ARGUMENT,
          "gatherv: recv_counts is a null pointer; valid is an array of ");
  REFUSED(fab_perform(world, fab_scatterv(all, counts, NULL, mine, own_count(), FAB_INT32, rank)), FAB_INVALID_ARGUMENT,
          "scatterv: send_displacements is a null pointer; valid is an array of ");
  bad[rank] = -7;
  REFUSED(fab_perform(world, fab_gatherv(mine, 0, all, bad, places, FAB_INT32, rank)), FAB_INVALID_COUNT,
          "is -7; valid is 0 or more");
  bad[rank] = ((int64_t)1 << 32) + count_of(rank); /* the low 32 bits would fit */
  REFUSED(fab_perform(world, fab_gatherv(mine, own_count(), all, bad, places, FAB_INT32, rank)), FAB_INVALID_COUNT,
          "own block has ");
  REFUSED(fab_perform(world, fab_scatterv(all, bad, places, mine, own_count(), FAB_INT32, rank)), FAB_INVALID_COUNT,
          "own block has ");
  REFUSED(fab_perform(world, fab_gatherv(mine, SIZE_MAX, all, counts, places, FAB_INT32, rank)), FAB_INVALID_COUNT,
          "gatherv: count is 18446744073709551615; valid are 0 to 2305843009213693951");
}

/* Only the root may call in place. The root waits for the others, and fails, too. */
static void refused_in_place(const fab_comm *world) {
  const void *const send = rank == 0 ? (const void *)mine : FAB_IN_PLACE;
  const fab_operation operation = fab_gatherv(send, own_count(), all, counts, places, FAB_INT32, 0);
  if (size == 1) return;
  if (rank == 0)
    CHECK(fab_perform(world, operation) != FAB_SUCCESS);
  else
    REFUSED(fab_perform(world, operation), FAB_INVALID_ARGUMENT, "gatherv: in place on rank ");
}

static void refused_reduce_scatter(const fab_comm *world) {
  int64_t bad[MOST_RANKS];
  REFUSED(fab_perform(world, fab_reduce_scatter(all, mine, NULL, FAB_INT32, FAB_SUM)), FAB_INVALID_ARGUMENT,
          "reduce_scatter: recv_counts is a null pointer; valid is an array of ");
  REFUSED(fab_perform(world, fab_reduce_scatter(all, mine, counts, FAB_FLOAT32, FAB_BIT_OR)), FAB_INVALID_ARGUMENT,
          "reduce_scatter: bit_or of float32 is not defined");
  memcpy(bad, counts, sizeof(bad));
  bad[size - 1] = -1;
  REFUSED(fab_perform(world, fab_reduce_scatter(all, mine, bad, FAB_INT32, FAB_SUM)), FAB_INVALID_COUNT,
          "is -1; valid is 0 or more");
  bad[size - 1] = INT64_MAX;
  REFUSED(fab_perform(world, fab_reduce_scatter(all, mine, bad, FAB_INT32, FAB_SUM)), FAB_INVALID_COUNT,
          "is 9223372036854775807; valid are 0 to ");
}

static void refused_neighbors(const fab_comm *world) {
  const int periodic = 1;
  fab_comm *ring = NULL;
  fab_operation operation;
  REFUSED(fab_perform(world, to_neighbors()), FAB_INVALID_TOPOLOGY, "topology");
  DO(fab_cartesian(world, 1, &size, &periodic, 0, &ring));
  operation = to_neighbors();
  operation.recv_counts = NULL;
  REFUSED(fab_perform(ring, operation), FAB_INVALID_ARGUMENT,
          "neighbor_allgatherv: recv_counts is a null pointer; valid is an array of 2 numbers");
  operation = to_neighbors();
  operation.send = FAB_IN_PLACE;
  REFUSED(fab_perform(ring, operation), FAB_INVALID_ARGUMENT, "neighbor_allgatherv: send is FAB_IN_PLACE; valid is ");
  REFUSED(fab_perform(ring, fab_neighbor_allgather(FAB_IN_PLACE, all, 1, FAB_INT32)), FAB_INVALID_ARGUMENT,
          "neighbor_allgather: send is FAB_IN_PLACE; valid is ");
  slot_counts[0] = -3;
  REFUSED(fab_perform(ring, to_neighbors()), FAB_INVALID_COUNT,
          "neighbor_allgatherv: counts[0] is -3; valid is 0 or more");
  fab_comm_free(ring);
}

/* A buffer's address is the caller's where offsets are not addresses. */
static void refused_null_buffers(const fab_comm *world) {
  const int periodic = 1;
  fab_comm *ring = NULL;
  fab_exchange *made = NULL;
  REFUSED(fab_perform(world, fab_allreduce(NULL, all, 2, FAB_INT32, FAB_SUM)), FAB_INVALID_ARGUMENT,
          "allreduce: the send buffer is a null pointer; valid is the address of 8 bytes");
  REFUSED(fab_perform(world, fab_allreduce(all, NULL, 2, FAB_INT32, FAB_SUM)), FAB_INVALID_ARGUMENT,
          "allreduce: the receive buffer is a null pointer; valid is the address of 8 bytes");
  REFUSED(fab_perform(world, fab_allreduce(FAB_IN_PLACE, NULL, 2, FAB_INT32, FAB_SUM)), FAB_INVALID_ARGUMENT,
          "allreduce: the buffer is a null pointer; valid is the address of 8 bytes");
  REFUSED(fab_perform(world, fab_bcast(NULL, 1, FAB_INT32, 0)), FAB_INVALID_ARGUMENT,
          "bcast: the buffer is a null pointer; valid is the address of 4 bytes");
  REFUSED(fab_perform(world, fab_gather(all, NULL, 1, FAB_INT32, rank)), FAB_INVALID_ARGUMENT,
          "gather: the receive buffer is a null pointer; valid is the address of ");
  REFUSED(fab_perform(world, fab_scatterv(NULL, counts, places, mine, own_count(), FAB_INT32, rank)),
          FAB_INVALID_ARGUMENT, "scatterv: the send buffer is a null pointer; valid is the address of ");
  REFUSED(fab_make_persistent(world, fab_alltoall(all, NULL, 1, FAB_INT32), &made), FAB_INVALID_ARGUMENT,
          "alltoall: the receive buffer is a null pointer; valid is the address of ");
  DO(fab_cartesian(world, 1, &size, &periodic, 0, &ring));
  REFUSED(fab_perform(ring, fab_neighbor_xchg(NULL, all, 1, FAB_INT32)), FAB_INVALID_ARGUMENT,
          "neighbor_xchg: the send buffer is a null pointer; valid is the address of 8 bytes");
  REFUSED(fab_perform(ring, fab_neighbor_allgather(mine, NULL, 1, FAB_INT32)), FAB_INVALID_ARGUMENT,
          "neighbor_allgather: the receive buffer is a null pointer; valid is the address of 8 bytes");
  REFUSED(fab_perform(ring, fab_cart_shift_xchg(all, NULL, 1, FAB_INT32, 0, 1)), FAB_INVALID_ARGUMENT,
          "cart_shift_xchg: the receive buffer is a null pointer; valid is the address of 4 bytes");
  CHECK(made == NULL);
  fab_comm_free(ring);
}

/* No bytes, no part in the call, or displacements that are addresses. */
static void legal_null_buffers(const fab_comm *world) {
  int64_t absolute[MOST_RANKS];
  int each;
  DO(fab_perform(world, fab_allreduce(NULL, NULL, 0, FAB_INT32, FAB_SUM)));
  DO(fab_perform(world, fab_reduce(all, rank == 0 ? mine : NULL, 1, FAB_INT32, FAB_SUM, 0)));
  DO(fab_perform(world, fab_exscan(all, rank == 0 ? NULL : mine, 1, FAB_INT32, FAB_SUM)));
  for (each = 0; each < size; ++each) absolute[each] = (intptr_t)all / (intptr_t)sizeof(all[0]) + places[each];
  clear_all();
  put_mine();
  DO(fab_perform(world, fab_allgatherv(mine, own_count(), NULL, counts, absolute, FAB_INT32)));
  CHECK(all_are_in_place());
}

void blocks_of_all_sizes(const fab_comm *world) {
  CHECK(size <= MOST_RANKS);
  if (size > MOST_RANKS) return;
  describe_blocks();
  for (root = 0; root<size; root += size> 1 ? size - 1 : 1) {
    gatherv(world);
    scatterv(world);
  }
  root = 0;
  reduce_scatter(world);
  neighbor_allgatherv(world);
  along_a_graph(world);
  refused_rooted(world);
  refused_in_place(world);
  refused_reduce_scatter(world);
  refused_neighbors(world);
  refused_null_buffers(world);
  legal_null_buffers(world);
  gatherv(world); /* all ranks are in step */
}
