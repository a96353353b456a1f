#include "bindings/mpi/requests/room_for_fortran.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "bindings/mpi/interception/find_next.h"

namespace fab::mpi {

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
namespace {

/// What Open MPI knows of a class of objects (opal_class_t).
struct OpalClass {
  const char* name;
  const void* parent_and_functions[3];
  int states[2];
  const void* lists[2];
  std::size_t bytes;  ///< of an object
};

/// Null: there is none, or it looks different.
OpalClass* find_class(const std::string& name) {
  auto* const found = static_cast<OpalClass*>(find_in_mpi((name + "_class").c_str()));
  return found != nullptr && std::string_view(found->name) == name ? found : nullptr;
}

}  // namespace
#endif

// On one rank only collectives that copy something get a request of their own.
int make_inactive_request(MPI_Request* request) {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  static const auto init = reinterpret_cast<decltype(&PMPI_Allgather_init)>(find_in_mpi("PMPI_Allgather_init"));
  static std::array<char, 2> bytes;
  if (init != nullptr)
    return init(&bytes[0], 1, MPI_BYTE, &bytes[1], 1, MPI_BYTE, MPI_COMM_SELF, MPI_INFO_NULL, request);
#endif
  return PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

void enlarge_generalized_requests() {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  OpalClass* const generalized = find_class("ompi_grequest_t");
  const OpalClass* const collective = find_class("ompi_coll_base_nbc_request_t");
  if (generalized != nullptr && collective != nullptr)
    generalized->bytes = std::max(generalized->bytes, collective->bytes);
#endif
}

}  // namespace fab::mpi
