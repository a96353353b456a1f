! The calls of fab/mpi.h for programs with `use mpi_f08`: topological collectives under MPI names, with handles that
! have types, and with an optional ierror. fab/mpi.h is the contract.
!
! Blocking calls take array sections of any shape. Calls that return before they have ended take contiguous buffers,
! and end with MPI_ERR_BUFFER if one is not: the compiler's copy of a section would be gone by then. The arrays of
! counts, displacements and types may be reused as soon as a call returns.
!
! The module has interfaces only: a program that uses it is linked with libfab_mpi, and with nothing of the module's.
! Arguments that are TYPE(*), DIMENSION(..) are handed over as gfortran does it.
module fab_mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int, c_intptr_t, c_ptr, c_size_t
  use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request
  implicit none
  private
  public :: MPI_Neighbor_xchg, MPI_Ineighbor_xchg, MPI_Neighbor_xchg_init
  public :: MPI_Neighbor_xchgv, MPI_Ineighbor_xchgv, MPI_Neighbor_xchgv_init
  public :: MPI_Neighbor_xchgw, MPI_Ineighbor_xchgw, MPI_Neighbor_xchgw_init
  public :: MPI_Cart_shift_xchg, MPI_Icart_shift_xchg, MPI_Cart_shift_xchg_init
  public :: MPI_Pneighbor_xchg_init, MPI_Neighbor_pready, MPI_Neighbor_parrived
  public :: MPI_Comm_neighbors_count, MPI_Comm_neighbors
  public :: fab_alloc, fab_free

  interface
    subroutine MPI_Neighbor_xchg(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        ierror) bind(C, name='mpi_neighbor_xchg_f08_')
      import :: c_int, MPI_Comm, MPI_Datatype
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in) :: sendbuf
      type(*), dimension(*) :: recvbuf
      integer(c_int), intent(in) :: sendcount, recvcount
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Ineighbor_xchg(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        request, ierror) bind(C, name='mpi_ineighbor_xchg_f08ts_')
      import :: c_int, MPI_Comm, MPI_Datatype, MPI_Request
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer(c_int), intent(in) :: sendcount, recvcount
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Neighbor_xchg_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, info, request, ierror) bind(C, name='mpi_neighbor_xchg_init_f08ts_')
      import :: c_int, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer(c_int), intent(in) :: sendcount, recvcount
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Neighbor_xchgv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, ierror) bind(C, name='mpi_neighbor_xchgv_f08_')
      import :: c_int, MPI_Comm, MPI_Datatype
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in) :: sendbuf
      type(*), dimension(*) :: recvbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts, sdispls, recvcounts, rdispls
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Ineighbor_xchgv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, request, ierror) bind(C, name='mpi_ineighbor_xchgv_f08ts_')
      import :: c_int, MPI_Comm, MPI_Datatype, MPI_Request
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts, sdispls, recvcounts, rdispls
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Neighbor_xchgv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, info, request, ierror) bind(C, name='mpi_neighbor_xchgv_init_f08ts_')
      import :: c_int, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts, sdispls, recvcounts, rdispls
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Neighbor_xchgw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, ierror) bind(C, name='mpi_neighbor_xchgw_f08_')
      import :: c_int, c_intptr_t, MPI_Comm, MPI_Datatype
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in) :: sendbuf
      type(*), dimension(*) :: recvbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts, recvcounts
      integer(c_intptr_t), dimension(*), intent(in) :: sdispls, rdispls
      type(MPI_Datatype), dimension(*), intent(in) :: sendtypes, recvtypes
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Ineighbor_xchgw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, request, ierror) bind(C, name='mpi_ineighbor_xchgw_f08ts_')
      import :: c_int, c_intptr_t, MPI_Comm, MPI_Datatype, MPI_Request
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts, recvcounts
      integer(c_intptr_t), dimension(*), intent(in) :: sdispls, rdispls
      type(MPI_Datatype), dimension(*), intent(in) :: sendtypes, recvtypes
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Neighbor_xchgw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, &
        recvcounts, rdispls, recvtypes, comm, info, request, ierror) bind(C, name='mpi_neighbor_xchgw_init_f08ts_')
      import :: c_int, c_intptr_t, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts, recvcounts
      integer(c_intptr_t), dimension(*), intent(in) :: sdispls, rdispls
      type(MPI_Datatype), dimension(*), intent(in) :: sendtypes, recvtypes
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Cart_shift_xchg(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        direction, disp, comm, ierror) bind(C, name='mpi_cart_shift_xchg_f08_')
      import :: c_int, MPI_Comm, MPI_Datatype
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in) :: sendbuf
      type(*), dimension(*) :: recvbuf
      integer(c_int), intent(in) :: sendcount, recvcount, direction, disp
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Icart_shift_xchg(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        direction, disp, comm, request, ierror) bind(C, name='mpi_icart_shift_xchg_f08ts_')
      import :: c_int, MPI_Comm, MPI_Datatype, MPI_Request
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer(c_int), intent(in) :: sendcount, recvcount, direction, disp
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Cart_shift_xchg_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        direction, disp, comm, info, request, ierror) bind(C, name='mpi_cart_shift_xchg_init_f08ts_')
      import :: c_int, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer(c_int), intent(in) :: sendcount, recvcount, direction, disp
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Pneighbor_xchg_init(sendbuf, partitions, sendcount, sendtype, recvbuf, recvcount, recvtype, &
        comm, info, request, ierror) bind(C, name='mpi_pneighbor_xchg_init_f08ts_')
      import :: c_int, MPI_Comm, MPI_Datatype, MPI_Info, MPI_Request
      type(*), dimension(..), intent(in), asynchronous :: sendbuf
      type(*), dimension(..), asynchronous :: recvbuf
      integer(c_int), intent(in) :: partitions, sendcount, recvcount
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Info), intent(in) :: info
      type(MPI_Request), intent(out) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Neighbor_pready(destination, partition, request, ierror) bind(C, name='mpi_neighbor_pready_f08_')
      import :: c_int, MPI_Request
      integer(c_int), intent(in) :: destination, partition
      type(MPI_Request), intent(in) :: request
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! Without BIND(C), which a LOGICAL of default kind has no place in: the compiler makes the name that fabf.h has.
    subroutine MPI_Neighbor_parrived(request, source, partition, flag, ierror)
      import :: c_int, MPI_Request
      type(MPI_Request), intent(in) :: request
      integer(c_int), intent(in) :: source, partition
      logical, intent(inout) :: flag
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Comm_neighbors_count(comm, rank, nneighbors, ierror) bind(C, name='mpi_comm_neighbors_count_f08_')
      import :: c_int, MPI_Comm
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), intent(in) :: rank
      integer(c_int), intent(out) :: nneighbors
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    subroutine MPI_Comm_neighbors(comm, rank, maxneighbors, neighbors, ierror) bind(C, name='mpi_comm_neighbors_f08_')
      import :: c_int, MPI_Comm
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), intent(in) :: rank, maxneighbors
      integer(c_int), intent(out) :: neighbors(maxneighbors)
      integer(c_int), intent(out), optional :: ierror
    end subroutine

    ! Memory for buffers, for c_f_pointer. Null: there is none.
    type(c_ptr) function fab_alloc(bytes) bind(C, name='fab_alloc')
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: bytes
    end function

    integer(c_int) function fab_free(memory) bind(C, name='fab_free')
      import :: c_int, c_ptr
      type(c_ptr), value :: memory
    end function
  end interface
end module fab_mpi_f08
