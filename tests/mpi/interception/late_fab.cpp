// fab's functions for a program that is linked with MPI alone: from a libfab_mpi that is loaded when the first of them
// is called. Environment: LATE_FAB=global for RTLD_GLOBAL.
#include <dlfcn.h>
#include <fab/mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void* library() {
  const char* const scope = std::getenv("LATE_FAB");
  const int flags = RTLD_NOW | (scope != nullptr && std::string(scope) == "global" ? RTLD_GLOBAL : RTLD_LOCAL);
  void* const loaded = ::dlopen(LATE_FAB_FILE, flags);
  if (loaded != nullptr) return loaded;
  std::fprintf(stderr, "cannot load %s: %s\n", LATE_FAB_FILE, ::dlerror());
  std::abort();
}

template <class Function>
Function* of_fab(Function*, const char* name) {
  static void* const loaded = library();
  return reinterpret_cast<Function*>(::dlsym(loaded, name));
}

}  // namespace

extern "C" {

int MPI_Neighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm) {
  return of_fab(&MPI_Neighbor_xchg, "MPI_Neighbor_xchg")(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                                         comm);
}

int MPI_Ineighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return of_fab(&MPI_Ineighbor_xchg, "MPI_Ineighbor_xchg")(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                                           comm, request);
}

int MPI_Neighbor_xchg_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return of_fab(&MPI_Neighbor_xchg_init, "MPI_Neighbor_xchg_init")(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                                   recvtype, comm, info, request);
}

}  // extern "C"
