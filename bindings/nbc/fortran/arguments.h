// Converts arguments of Fortran programs to C's.
#pragma once

#include <mpi.h>

#include "bindings/mpi/fortran/arguments.h"
#include "bindings/nbc/fortran/handles.h"

extern "C" {
extern char mpi_fortran_unweighted_ __attribute__((weak));  // Open MPI's, whose address stands for MPI_UNWEIGHTED
}

namespace fab::nbc {

using mpi::buffer_of;
using mpi::comm_of;
using mpi::op_of;
using mpi::type_of;

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
