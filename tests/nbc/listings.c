#include "nbc/listings.h"

#include <math.h>
#include <stdlib.h>

/* clang-format off: as in the document, but for its name */
int listing_2_Ibarrier(MPI_Comm comm, NBC_Handle *handle) {
  int round, rank, p, maxround, res, recvpeer, sendpeer;
  NBC_Schedule *schedule;

  res = MPI_Comm_rank(comm, &rank);
  res = MPI_Comm_size(comm, &p);

  schedule = malloc(sizeof(NBC_Schedule));

  round = -1;
  handle->tmpbuf = NULL;

  res = NBC_Sched_create(schedule);

  maxround = (int)ceil((log(p) / LOG2) - 1);

  do {
    round++;
    sendpeer = (rank + (1 << round)) % p;
    /* add p because modulo does not work with negative values */
    recvpeer = ((rank - (1 << round)) + p) % p;

    /* send msg to sendpeer */
    res = NBC_Sched_send(NULL, 0, MPI_BYTE, sendpeer, schedule);

    /* recv msg from recvpeer */
    res = NBC_Sched_recv(NULL, 0, MPI_BYTE, recvpeer, schedule);

    /* end communication round */
    if (round < maxround) {
      res = NBC_Sched_barrier(schedule);
    }
  } while (round < maxround);

  res = NBC_Sched_commit(schedule);

  res = NBC_Start(handle, comm, schedule);

  return NBC_OK;
}
/* clang-format on */

enum { kElements = 1000, kTurns = 20 };

typedef struct {
  double comm[kElements];
  double comp[kElements];
} Buffers;

static int rank_in_world(void) {
  int rank = -1;
  return MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS ? rank : -1;
}

static void compute(double *buffer, double turn) {
  int i;
  for (i = 0; i < kElements; ++i) buffer[i] = turn * i;
}

static int count_wrong(const double *buffer, double turn) {
  int wrong = 0;
  int i;
  for (i = 0; i < kElements; ++i) wrong += buffer[i] != turn * i;
  return wrong;
}

int listing_4(void) {
  Buffers buffers;
  NBC_Handle handle;
  int turn = 0;
  int wrong = 0;
  do {
    /* do some computation on comm buffer */
    compute(buffers.comm, rank_in_world() == 0 ? turn : -1);

    NBC_Ibcast(buffers.comm, kElements, MPI_DOUBLE, 0, MPI_COMM_WORLD, &handle);

    /* do some computation on comp buffer */
    compute(buffers.comp, turn + 1);

    NBC_Wait(&handle);
    wrong += count_wrong(buffers.comm, turn) + count_wrong(buffers.comp, turn + 1);
  } while (++turn < kTurns);
  return wrong;
}

int listing_5(void) {
  Buffers buffers;
  NBC_Handle handle;
  int turn = 0;
  int wrong = 0;
  do {
    /* do some computation on comm buffer */
    compute(buffers.comm, rank_in_world() == 0 ? turn : -1);

    NBC_Ibcast(buffers.comm, kElements, MPI_DOUBLE, 0, MPI_COMM_WORLD, &handle);

    /* do some computation on comp buffer */
    compute(buffers.comp, turn);

    NBC_Test(&handle);

    /* do some computation on comp buffer */
    compute(buffers.comp, turn + 1);

    NBC_Wait(&handle);
    wrong += count_wrong(buffers.comm, turn) + count_wrong(buffers.comp, turn + 1);
  } while (++turn < kTurns);
  return wrong;
}

int other_forms(void) {
  int (*wait)(NBC_Handle *) = NBC_Wait;
  int (*test)(NBC_Handle *) = &NBC_Test;
  NBC_Handle handle;
  MPI_Status status;
  int flag = 0;
  int wrong = 0;

  wrong += NBC_Ibarrier(MPI_COMM_WORLD, &handle) != NBC_OK;
  wrong += NBC_Wait(&handle, &status) != NBC_OK;
  wrong += status.MPI_SOURCE != MPI_ANY_SOURCE || status.MPI_TAG != MPI_ANY_TAG;

  wrong += NBC_Ibarrier(MPI_COMM_WORLD, &handle) != NBC_OK;
  while (flag == 0) wrong += NBC_Test(&handle, &flag, MPI_STATUS_IGNORE) != NBC_OK;

  wrong += NBC_Ibarrier(MPI_COMM_WORLD, &handle) != NBC_OK;
  while (test(&handle) == NBC_CONTINUE) continue;
  wrong += wait(&handle) != NBC_OK;
  return wrong;
}
