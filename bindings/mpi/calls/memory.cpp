// fab_alloc and fab_free for C and Fortran programs: exceptions become a null pointer or an error code.
#include "fab/memory.h"

#include "fab/error.h"
#include "fab/mpi.h"

extern "C" void* fab_alloc(size_t bytes) {
  try {
    return fab::alloc(bytes);
  } catch (const std::exception&) {
    return nullptr;
  }
}

extern "C" int fab_free(void* memory) {
  try {
    fab::free(memory);
    return MPI_SUCCESS;
  } catch (const fab::Error&) {
    return MPI_ERR_BASE;
  }
}
