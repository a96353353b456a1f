/* A tool that counts calls, and tells, where TOOL_LOOKS is set, whether libfabric is there at MPI_Init: it has MPI's
   names and calls the PMPI_ functions. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int reductions, waits;

int counted_reductions(void);
int counted_waits(void);
int counted_reductions(void) { return atomic_load(&reductions); }
int counted_waits(void) { return atomic_load(&waits); }

int MPI_Init(int *argc, char ***argv) {
  if (getenv("TOOL_LOOKS"))
    puts(dlopen("libfabric.so.1", RTLD_NOW | RTLD_NOLOAD) ? "loaded before" : "not loaded before");
  return PMPI_Init(argc, argv);
}
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  atomic_fetch_add(&reductions, 1);
  return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request) {
  atomic_fetch_add(&reductions, 1);
  return PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}
int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  atomic_fetch_add(&waits, 1);
  return PMPI_Wait(request, status);
}
