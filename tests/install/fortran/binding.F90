! Each rank of a ring tells both neighbors who it is.
program binding
#if defined(WITH_MPI_F08)
  use mpi_f08
  use fab_mpi_f08
  implicit none
  type(MPI_Comm) :: ring
#elif defined(WITH_MPI)
  use mpi
  use fab_mpi
  implicit none
  integer :: ring
#elif defined(WITH_MPIF_H)
  implicit none
  include 'mpif.h'
  include 'fabf.h'
  integer :: ring
#endif
  integer :: rank, ranks, ierror, mine(2), theirs(2)
  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, ierror)
  call MPI_Comm_rank(ring, rank, ierror)
  mine = rank
  theirs = -1
  call MPI_Neighbor_xchg(mine, 1, MPI_INTEGER, theirs, 1, MPI_INTEGER, ring, ierror)
  call MPI_Comm_free(ring, ierror)
  call MPI_Finalize(ierror)
  if (theirs(1) /= modulo(rank + 1, ranks) .or. theirs(2) /= modulo(rank - 1, ranks)) stop 1
end program
