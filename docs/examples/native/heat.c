/* Heat along a rod that all ranks hold together, in C and without MPI: one end is hot, the other one cold. */
#include <fab/fab.h>
#include <stdio.h>
#include <stdlib.h>

static void check(fab_error error) {
  if (error == FAB_SUCCESS) return;
  fprintf(stderr, "%s\n", fab_last_error());
  exit(EXIT_FAILURE);
}

int main(void) {
  const size_t cells = 20, width = 1;
  const int open_ends = 0;
  const int left[] = {-1}, right[] = {1};
  int rank, ranks, beyond;
  double total = 0;
  fab_context *context;
  fab_halo *halo;
  check(fab_open(&context));
  rank = fab_rank(fab_world(context));
  ranks = fab_size(fab_world(context));

  const fab_halo_options rod = {.dimensions = 1,
                                .grid = &ranks,
                                .periodic = &open_ends,
                                .interior = &cells,
                                .width = &width,
                                .element_bytes = sizeof(double),
                                .buffers = 2};
  check(fab_halo_make(fab_world(context), &rod, &halo));
  for (int i = 0; i < 2; ++i, check(fab_halo_flip(halo))) {
    double *field = fab_halo_field(halo); /* all zero; beyond the ends it stays as it is set here */
    check(fab_halo_neighbor(halo, left, &beyond));
    if (beyond == FAB_NO_RANK) field[0] = 100;
    check(fab_halo_neighbor(halo, right, &beyond));
    if (beyond == FAB_NO_RANK) field[cells + 1] = 0;
  }

  for (int step = 0; step < 20000; ++step) {
    const double *now = fab_halo_field(halo);
    double *then = fab_halo_other_field(halo);
    check(fab_halo_start(halo));
    for (size_t i = 2; i < cells; ++i) then[i] = (now[i - 1] + now[i + 1]) / 2; /* needs no halo */
    check(fab_halo_finish(halo));
    then[1] = (now[0] + now[2]) / 2;
    then[cells] = (now[cells - 1] + now[cells + 1]) / 2;
    check(fab_halo_flip(halo));
  }

  for (size_t i = 1; i <= cells; ++i) total += ((double *)fab_halo_field(halo))[i];
  check(fab_perform(fab_world(context), fab_allreduce(FAB_IN_PLACE, &total, 1, FAB_FLOAT64, FAB_SUM)));
  if (rank == 0) printf("%d ranks: mean temperature %.2f\n", ranks, total / (double)cells / ranks);
  fab_halo_free(halo);
  check(fab_close(context));
}
