/* A tool that counts calls, and tells, where TOOL_LOOKS is set, whether libfabric is there at MPI_Init and at the end.
   It has MPI's names and calls the PMPI_ functions. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "dropin/init_of.h"

#define PMPI_OF_(name) P##name
#define PMPI_OF(name) PMPI_OF_(name)

#define COUNT(calls)         \
  static atomic_int calls;   \
  int counted_##calls(void); \
  int counted_##calls(void) { return atomic_load(&calls); }
COUNT(reductions)
COUNT(neighbors)
COUNT(inits)
COUNT(starts)
COUNT(waits)

/* Where Open MPI looks for cards it loads and unloads libfabric in PMPI_Init. */
static const char *libfabric(void) {
  void *const handle = dlopen("libfabric.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (handle != NULL) dlclose(handle);
  return handle != NULL ? "loaded" : "not loaded";
}
static const char *at_init = "unknown";

int MPI_Init(int *argc, char ***argv) {
  at_init = libfabric();
  return PMPI_Init(argc, argv);
}
int MPI_Finalize(void) {
  if (getenv("TOOL_LOOKS") != NULL) printf("%s before, %s at the end\n", at_init, libfabric());
  return PMPI_Finalize();
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
int MPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm) {
  atomic_fetch_add(&neighbors, 1);
  return PMPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
int MPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request) {
  atomic_fetch_add(&neighbors, 1);
  return PMPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request);
}
int INIT_OF(Allreduce)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                       MPI_Info info, MPI_Request *request) {
  atomic_fetch_add(&inits, 1);
  return PMPI_OF(INIT_OF(Allreduce))(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}
int MPI_Start(MPI_Request *request) {
  atomic_fetch_add(&starts, 1);
  return PMPI_Start(request);
}
int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  atomic_fetch_add(&waits, 1);
  return PMPI_Wait(request, status);
}
