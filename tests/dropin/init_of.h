// The names of persistent collectives in this MPI's header: those of MPI-4, also in Open MPI 5, or Open MPI 4.1's.
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define INIT_OF(Name) MPI_##Name##_init
#else
#define INIT_OF(Name) MPIX_##Name##_init
#endif
