/* What the programs in Fortran and Python call: an exchange of blocks of `count` ints along the ring of all ranks. */
#include <fab/mpi.h>
#include <stdlib.h>

static MPI_Comm ring = MPI_COMM_NULL;
static int rank, size, count, round_number;
static int *sent, *received;

static int value_of(int of_rank) { return 1000 * round_number + of_rank; }

static void make_ring(void) {
  const int periodic = 1;
  if (ring != MPI_COMM_NULL) return;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
}

/* New contents, and an exchange of so many ints that is about to begin. */
int shim_prepare(int ints);
int shim_prepare(int ints) {
  make_ring();
  ++round_number;
  if (ints != count) {
    count = ints;
    sent = realloc(sent, 2 * sizeof(int) * (size_t)ints);
    received = realloc(received, 2 * sizeof(int) * (size_t)ints);
    if (sent == NULL || received == NULL) return MPI_ERR_NO_MEM;
  }
  for (int i = 0; i < 2 * count; ++i) {
    sent[i] = value_of(rank);
    received[i] = -1;
  }
  return MPI_SUCCESS;
}

int shim_run(void);
int shim_run(void) { return MPI_Neighbor_xchg(sent, count, MPI_INT, received, count, MPI_INT, ring); }

int shim_start(MPI_Request *request);
int shim_start(MPI_Request *request) {
  return MPI_Ineighbor_xchg(sent, count, MPI_INT, received, count, MPI_INT, ring, request);
}

int shim_start_f(MPI_Fint *request);
int shim_start_f(MPI_Fint *request) {
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = shim_start(&started);
  *request = MPI_Request_c2f(started);
  return code;
}

int shim_make(MPI_Request *request);
int shim_make(MPI_Request *request) {
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  return MPI_Neighbor_xchg_init(sent, count, MPI_INT, received, count, MPI_INT, ring, MPI_INFO_NULL, request);
}

int shim_make_f(MPI_Fint *request);
int shim_make_f(MPI_Fint *request) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = shim_make(&made);
  *request = MPI_Request_c2f(made);
  return code;
}

/* How many ints are not what they have to be. */
int shim_wrong(void);
int shim_wrong(void) {
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += (received[i] != value_of((rank + 1) % size)) + (received[count + i] != value_of((rank + size - 1) % size));
  return wrong;
}

void shim_end(void);
void shim_end(void) {
  if (ring != MPI_COMM_NULL) MPI_Comm_free(&ring);
  free(sent);
  free(received);
}
