#include "bindings/nbc/code.h"

#include "fab/nbc.h"

namespace fab::nbc {

static_assert(MPI_ERR_OTHER > NBC_INVALID_TOPOLOGY_COMM && MPI_ERR_TRUNCATE > NBC_INVALID_TOPOLOGY_COMM &&
              MPI_ERR_UNKNOWN > NBC_INVALID_TOPOLOGY_COMM);

int code_of(int error_class) noexcept {
  switch (error_class) {
    case MPI_SUCCESS:
      return NBC_OK;
    case MPI_ERR_NO_MEM:
      return NBC_OOR;
    case MPI_ERR_INTERN:
      return NBC_BAD_SCHED;
    case MPI_ERR_TYPE:
      return NBC_DATATYPE_NOT_SUPPORTED;
    case MPI_ERR_OP:
      return NBC_OP_NOT_SUPPORTED;
    case MPI_ERR_TOPOLOGY:
      return NBC_INVALID_TOPOLOGY_COMM;
    case MPI_ERR_ARG:
    case MPI_ERR_BUFFER:
    case MPI_ERR_COMM:
    case MPI_ERR_COUNT:
    case MPI_ERR_DIMS:
    case MPI_ERR_RANK:
    case MPI_ERR_ROOT:
      return NBC_INVALID_PARAM;
    default:
      return error_class;
  }
}

}  // namespace fab::nbc
