// Converts arguments of Fortran programs to C's.
#pragma once

#include <mpi.h>

#include <type_traits>

#include "bindings/nbc/fortran/handles.h"

static_assert(std::is_same_v<MPI_Fint, int>, "arrays of counts are handed over as they are");

// Variables of Open MPI's, whose addresses stand for something; null in programs without its Fortran library.
extern "C" {
extern char mpi_fortran_in_place_ __attribute__((weak));
extern char mpi_fortran_bottom_ __attribute__((weak));
extern char mpi_fortran_unweighted_ __attribute__((weak));
}

namespace fab::nbc {

inline void* buffer_of(void* buffer) noexcept {
  if (buffer != nullptr && buffer == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  if (buffer != nullptr && buffer == &mpi_fortran_bottom_) return MPI_BOTTOM;
  return buffer;
}

inline MPI_Comm comm_of(const MPI_Fint* comm) { return MPI_Comm_f2c(*comm); }
inline MPI_Datatype type_of(const MPI_Fint* type) { return MPI_Type_f2c(*type); }
inline MPI_Op op_of(const MPI_Fint* op) { return MPI_Op_f2c(*op); }

/// `start` is a call with a handle that returns its code.
template <class Start>
MPI_Fint start_for_fortran(MPI_Fint* handle, Start&& start) noexcept {
  return guarded("NBC (Fortran)", [&] {
    const MPI_Fint number = FortranHandles::all().take();
    const int code = start(FortranHandles::all().find(number));
    if (code != NBC_OK) FortranHandles::all().give_back(number);
    *handle = code == NBC_OK ? number : kNoHandle;
    return code;
  });
}

}  // namespace fab::nbc
