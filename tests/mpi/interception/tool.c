/* A tool that counts completion calls: it has MPI's names and calls the PMPI_ functions, or (with CHAINED) the next
 * definition of the same name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>

static atomic_int calls;

int counting_tool_calls(void);
int counting_tool_calls(void) { return atomic_load(&calls); }

#ifdef CHAINED
#define NEXT(name, ...)                               \
  __extension__({                                     \
    __typeof__(&MPI_##name) next;                     \
    *(void **)&next = dlsym(RTLD_NEXT, "MPI_" #name); \
    next(__VA_ARGS__);                                \
  })
#else
#define NEXT(name, ...) PMPI_##name(__VA_ARGS__)
#endif

#define COUNTED(name, parameters, ...) \
  int MPI_##name parameters {          \
    atomic_fetch_add(&calls, 1);       \
    return NEXT(name, __VA_ARGS__);    \
  }

COUNTED(Wait, (MPI_Request * request, MPI_Status *status), request, status)
COUNTED(Test, (MPI_Request * request, int *flag, MPI_Status *status), request, flag, status)
COUNTED(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]), count, requests, statuses)
COUNTED(Testall, (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]), count, requests, flag, statuses)
COUNTED(Waitany, (int count, MPI_Request requests[], int *index, MPI_Status *status), count, requests, index, status)
COUNTED(Testany, (int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status), count, requests, index,
        flag, status)
COUNTED(Waitsome, (int count, MPI_Request requests[], int *completed, int indices[], MPI_Status statuses[]), count,
        requests, completed, indices, statuses)
COUNTED(Testsome, (int count, MPI_Request requests[], int *completed, int indices[], MPI_Status statuses[]), count,
        requests, completed, indices, statuses)
COUNTED(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status), request, flag, status)
COUNTED(Request_free, (MPI_Request * request), request)
COUNTED(Cancel, (MPI_Request * request), request)
COUNTED(Start, (MPI_Request * request), request)
COUNTED(Startall, (int count, MPI_Request requests[]), count, requests)
COUNTED(Op_free, (MPI_Op * op), op)
