// Tells handles that MPI may be asked about from other numbers. Asked about one of those, MPI calls the error handler
// of MPI_COMM_WORLD, which ends programs that have set one of their own on the communicator of the call alone.
#pragma once

#include <mpi.h>

#include <type_traits>

namespace fab::mpi {

namespace detail {

/// The kinds of objects in MPICH's handles, which are numbers.
enum class Kind : unsigned { communicator = 1, datatype = 3, operation = 6 };

/// Whether MPI could have made the handle: it need not name an object that lives. Open MPI's conversions of Fortran's
/// numbers give null pointers for those that are no handles.
template <class Handle>
[[nodiscard]] bool is_handle(Handle handle, Handle null, [[maybe_unused]] Kind kind) noexcept {
  if (handle == null) return false;
  if constexpr (std::is_pointer_v<Handle>) {
    return handle != nullptr;
  } else {
    const auto bits = static_cast<unsigned>(handle);
    return bits >> 30 != 0 && (bits >> 26 & 0xf) == static_cast<unsigned>(kind);
  }
}

}  // namespace detail

[[nodiscard]] inline bool is_communicator(MPI_Comm comm) noexcept {
  return detail::is_handle(comm, MPI_COMM_NULL, detail::Kind::communicator);
}
[[nodiscard]] inline bool is_datatype(MPI_Datatype type) noexcept {
  return detail::is_handle(type, MPI_DATATYPE_NULL, detail::Kind::datatype);
}
[[nodiscard]] inline bool is_operation(MPI_Op op) noexcept {
  return detail::is_handle(op, MPI_OP_NULL, detail::Kind::operation);
}

}  // namespace fab::mpi
