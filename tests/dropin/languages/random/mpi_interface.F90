! MPI through the interface that the macro names: WITH_MPIF_H, WITH_MPI or WITH_MPI_F08.
module mpi_interface
#if defined(WITH_MPI_F08)
  use mpi_f08
  use mpi_f08_ext
#elif defined(WITH_MPI)
  use mpi
#endif
  implicit none
#if defined(WITH_MPIF_H)
  include 'mpif.h'
#endif
end module
