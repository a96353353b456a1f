// Converts arguments of Fortran programs to C's, and what C's calls return to arguments of Fortran programs.
#pragma once

#include <mpi.h>

#include <type_traits>

static_assert(std::is_same_v<MPI_Fint, int>, "arrays of counts are handed over as they are");

// Variables whose addresses stand for MPI_IN_PLACE and MPI_BOTTOM. They are absent where the process has not loaded the
// Fortran library of that MPI.
extern "C" {
extern char mpi_fortran_in_place_ __attribute__((weak));  // Open MPI's, in all three interfaces
extern char mpi_fortran_bottom_ __attribute__((weak));
extern void* MPIR_F_MPI_IN_PLACE __attribute__((weak));  // MPICH's: addresses in mpif.h's common block
extern void* MPIR_F_MPI_BOTTOM __attribute__((weak));
extern int MPIR_F08_MPI_IN_PLACE __attribute__((weak));  // MPICH's of mpi_f08
extern int MPIR_F08_MPI_BOTTOM __attribute__((weak));
}

/// Gives the MPI_ name of a Fortran call to the PMPI_ one, so that a profiler can stand in for it.
#define FAB_FORTRAN_PROFILED(name) __attribute__((weak, alias("p" #name)))
/// Gives a call a further name, which the modules call.
#define FAB_FORTRAN_ALIAS(name) __attribute__((weak, alias(#name)))

namespace fab::mpi {

/// Whether `buffer` is the address of one of the variables; the last is a pointer that holds it.
inline bool is_address_of(const void* buffer, const void* open_mpi, const void* mpich_f08,
                          void* const* mpich) noexcept {
  return buffer != nullptr && (buffer == open_mpi || buffer == mpich_f08 || (mpich != nullptr && buffer == *mpich));
}

inline void* buffer_of(void* buffer) noexcept {
  if (is_address_of(buffer, &mpi_fortran_in_place_, &MPIR_F08_MPI_IN_PLACE, &MPIR_F_MPI_IN_PLACE)) return MPI_IN_PLACE;
  if (is_address_of(buffer, &mpi_fortran_bottom_, &MPIR_F08_MPI_BOTTOM, &MPIR_F_MPI_BOTTOM)) return MPI_BOTTOM;
  return buffer;
}

/// Open MPI has a null pointer for a number that is no handle, which its own calls in C do not expect.
template <class Handle>
[[nodiscard]] Handle known(Handle handle, Handle none) noexcept {
  if constexpr (std::is_pointer_v<Handle>)
    return handle == nullptr ? none : handle;
  else
    return handle;
}

inline MPI_Comm comm_of(const MPI_Fint* comm) { return known(MPI_Comm_f2c(*comm), MPI_COMM_NULL); }
inline MPI_Datatype type_of(const MPI_Fint* type) { return known(MPI_Type_f2c(*type), MPI_DATATYPE_NULL); }
inline MPI_Request request_of(const MPI_Fint* request) { return known(MPI_Request_f2c(*request), MPI_REQUEST_NULL); }
inline MPI_Op op_of(const MPI_Fint* op) { return known(MPI_Op_f2c(*op), MPI_OP_NULL); }

/// ierror is optional in mpi_f08: then it is null.
inline void give_code(MPI_Fint* ierror, int code) noexcept {
  if (ierror != nullptr) *ierror = code;
}

/// `make` is a call with a request that returns its code. If it fails, the program gets MPI_REQUEST_NULL.
template <class Make>
void give_request(MPI_Fint* request, MPI_Fint* ierror, Make&& make) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = make(&made);
  *request = MPI_Request_c2f(made);
  give_code(ierror, code);
}

}  // namespace fab::mpi
