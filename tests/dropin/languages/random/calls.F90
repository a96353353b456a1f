! A call of any of the collectives in one of its forms: its arguments, and the statement.
#include "../interface.inc"
module calls
  use mpi_interface
  use layouts
  use reductions
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int64
  implicit none

  integer, parameter :: blocking = 1, non_blocking = 2, persistent = 3
  character(len=12), parameter :: names_of_forms(3) = [character(len=12) :: 'blocking', 'non-blocking', 'persistent']

  integer, parameter :: its_barrier = 1, its_bcast = 2, its_gather = 3, its_gatherv = 4, its_scatter = 5, &
    its_scatterv = 6, its_allgather = 7, its_allgatherv = 8, its_alltoall = 9, its_alltoallv = 10, its_alltoallw = 11, &
    its_reduce = 12, its_allreduce = 13, its_reduce_scatter = 14, its_reduce_scatter_block = 15, its_scan = 16, &
    its_exscan = 17, its_neighbor_allgather = 18, its_neighbor_allgatherv = 19, its_neighbor_alltoall = 20, &
    its_neighbor_alltoallv = 21, its_neighbor_alltoallw = 22
  integer, parameter :: functions = 22
  character(len=20), parameter :: names_of_functions(functions) = [character(len=20) :: 'barrier', 'bcast', 'gather', &
    'gatherv', 'scatter', 'scatterv', 'allgather', 'allgatherv', 'alltoall', 'alltoallv', 'alltoallw', 'reduce', &
    'allreduce', 'reduce_scatter', 'reduce_scatter_block', 'scan', 'exscan', 'neighbor_allgather', &
    'neighbor_allgatherv', 'neighbor_alltoall', 'neighbor_alltoallv', 'neighbor_alltoallw']

  type :: Arguments
    integer :: function = its_barrier, form = blocking, root = 0
    COMM_TYPE :: comm
    logical :: in_place = .false., from_bottom = .false., to_bottom = .false.
    type(Side) :: send, recv
    integer :: send_count = 0, recv_count = 0
    DATATYPE_TYPE :: send_type, recv_type
    integer, allocatable :: parts(:)  ! elements of a reduction that each rank gets
    type(Reduction) :: reduced
    REQUEST_TYPE :: request
  end type

contains

  ! The variables by whose addresses MPI knows them, as buffers that are chosen at run time.
  function in_place_buffer() result(buffer)
    integer(int8), pointer, contiguous :: buffer(:)
    call c_f_pointer(transfer(loc(MPI_IN_PLACE), c_null_ptr), buffer, [1])
  end function

  function bottom_buffer() result(buffer)
    integer(int8), pointer, contiguous :: buffer(:)
    call c_f_pointer(transfer(loc(MPI_BOTTOM), c_null_ptr), buffer, [1])
  end function

  ! Calls the blocking or non-blocking function, or makes the persistent request.
  subroutine perform(its, ierror)
    type(Arguments), intent(inout), target :: its
    integer, intent(out) :: ierror
    integer(int8), pointer, contiguous :: from(:), into(:)
    from => its%send%memory(its%send%origin + 1:)
    into => its%recv%memory(its%recv%origin + 1:)
    if (its%from_bottom) from => bottom_buffer()
    if (its%to_bottom) into => bottom_buffer()
    if (its%in_place) then
      if (its%function == its_scatter .or. its%function == its_scatterv) then
        into => in_place_buffer()
      else
        from => in_place_buffer()
      end if
    end if
    call perform_between(its, from, into, ierror)
  end subroutine

  subroutine perform_between(its, from, into, ierror)
    type(Arguments), intent(inout) :: its
    integer(int8), pointer, contiguous, intent(in) :: from(:), into(:)
    integer, intent(out) :: ierror
    associate (send => its%send, recv => its%recv)
    select case (its%function)
    case (its_barrier)
      select case (its%form)
      case (blocking)
        call MPI_Barrier(its%comm, ierror)
      case (non_blocking)
        call MPI_Ibarrier(its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Barrier_init(its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_bcast)
      select case (its%form)
      case (blocking)
        call MPI_Bcast(into, its%recv_count, its%recv_type, its%root, its%comm, ierror)
      case (non_blocking)
        call MPI_Ibcast(into, its%recv_count, its%recv_type, its%root, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Bcast_init(into, its%recv_count, its%recv_type, its%root, its%comm, MPI_INFO_NULL, its%request, &
                             ierror)
      end select
    case (its_gather)
      select case (its%form)
      case (blocking)
        call MPI_Gather(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%root, its%comm, &
                        ierror)
      case (non_blocking)
        call MPI_Igather(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%root, &
                         its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Gather_init(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%root, &
                              its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_gatherv)
      select case (its%form)
      case (blocking)
        call MPI_Gatherv(from, its%send_count, its%send_type, into, recv%counts, recv%places, its%recv_type, &
                         its%root, its%comm, ierror)
      case (non_blocking)
        call MPI_Igatherv(from, its%send_count, its%send_type, into, recv%counts, recv%places, its%recv_type, &
                          its%root, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Gatherv_init(from, its%send_count, its%send_type, into, recv%counts, recv%places, its%recv_type, &
                               its%root, its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_scatter)
      select case (its%form)
      case (blocking)
        call MPI_Scatter(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%root, &
                         its%comm, ierror)
      case (non_blocking)
        call MPI_Iscatter(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%root, &
                          its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Scatter_init(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%root, &
                               its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_scatterv)
      select case (its%form)
      case (blocking)
        call MPI_Scatterv(from, send%counts, send%places, its%send_type, into, its%recv_count, its%recv_type, &
                          its%root, its%comm, ierror)
      case (non_blocking)
        call MPI_Iscatterv(from, send%counts, send%places, its%send_type, into, its%recv_count, its%recv_type, &
                           its%root, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Scatterv_init(from, send%counts, send%places, its%send_type, into, its%recv_count, its%recv_type, &
                                its%root, its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_allgather)
      select case (its%form)
      case (blocking)
        call MPI_Allgather(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%comm, ierror)
      case (non_blocking)
        call MPI_Iallgather(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%comm, &
                            its%request, ierror)
      case (persistent)
        call MPIX_Allgather_init(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%comm, &
                                 MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_allgatherv)
      select case (its%form)
      case (blocking)
        call MPI_Allgatherv(from, its%send_count, its%send_type, into, recv%counts, recv%places, its%recv_type, &
                            its%comm, ierror)
      case (non_blocking)
        call MPI_Iallgatherv(from, its%send_count, its%send_type, into, recv%counts, recv%places, its%recv_type, &
                             its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Allgatherv_init(from, its%send_count, its%send_type, into, recv%counts, recv%places, its%recv_type, &
                                  its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_alltoall)
      select case (its%form)
      case (blocking)
        call MPI_Alltoall(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%comm, ierror)
      case (non_blocking)
        call MPI_Ialltoall(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%comm, &
                           its%request, ierror)
      case (persistent)
        call MPIX_Alltoall_init(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, its%comm, &
                                MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_alltoallv)
      select case (its%form)
      case (blocking)
        call MPI_Alltoallv(from, send%counts, send%places, its%send_type, into, recv%counts, recv%places, &
                           its%recv_type, its%comm, ierror)
      case (non_blocking)
        call MPI_Ialltoallv(from, send%counts, send%places, its%send_type, into, recv%counts, recv%places, &
                            its%recv_type, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Alltoallv_init(from, send%counts, send%places, its%send_type, into, recv%counts, recv%places, &
                                 its%recv_type, its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_alltoallw)
      select case (its%form)
      case (blocking)
        call MPI_Alltoallw(from, send%counts, send%int_bytes, send%types, into, recv%counts, recv%int_bytes, &
                           recv%types, its%comm, ierror)
      case (non_blocking)
        call MPI_Ialltoallw(from, send%counts, send%int_bytes, send%types, into, recv%counts, recv%int_bytes, &
                            recv%types, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Alltoallw_init(from, send%counts, send%int_bytes, send%types, into, recv%counts, recv%int_bytes, &
                                 recv%types, its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_reduce)
      select case (its%form)
      case (blocking)
        call MPI_Reduce(from, into, its%recv_count, its%recv_type, its%reduced%op, its%root, its%comm, ierror)
      case (non_blocking)
        call MPI_Ireduce(from, into, its%recv_count, its%recv_type, its%reduced%op, its%root, its%comm, its%request, &
                         ierror)
      case (persistent)
        call MPIX_Reduce_init(from, into, its%recv_count, its%recv_type, its%reduced%op, its%root, its%comm, &
                              MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_allreduce)
      select case (its%form)
      case (blocking)
        call MPI_Allreduce(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, ierror)
      case (non_blocking)
        call MPI_Iallreduce(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Allreduce_init(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, MPI_INFO_NULL, &
                                 its%request, ierror)
      end select
    case (its_reduce_scatter)
      select case (its%form)
      case (blocking)
        call MPI_Reduce_scatter(from, into, its%parts, its%recv_type, its%reduced%op, its%comm, ierror)
      case (non_blocking)
        call MPI_Ireduce_scatter(from, into, its%parts, its%recv_type, its%reduced%op, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Reduce_scatter_init(from, into, its%parts, its%recv_type, its%reduced%op, its%comm, MPI_INFO_NULL, &
                                      its%request, ierror)
      end select
    case (its_reduce_scatter_block)
      select case (its%form)
      case (blocking)
        call MPI_Reduce_scatter_block(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, ierror)
      case (non_blocking)
        call MPI_Ireduce_scatter_block(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, &
                                       its%request, ierror)
      case (persistent)
        call MPIX_Reduce_scatter_block_init(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, &
                                            MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_scan)
      select case (its%form)
      case (blocking)
        call MPI_Scan(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, ierror)
      case (non_blocking)
        call MPI_Iscan(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Scan_init(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, MPI_INFO_NULL, &
                            its%request, ierror)
      end select
    case (its_exscan)
      select case (its%form)
      case (blocking)
        call MPI_Exscan(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, ierror)
      case (non_blocking)
        call MPI_Iexscan(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Exscan_init(from, into, its%recv_count, its%recv_type, its%reduced%op, its%comm, MPI_INFO_NULL, &
                              its%request, ierror)
      end select
    case (its_neighbor_allgather)
      select case (its%form)
      case (blocking)
        call MPI_Neighbor_allgather(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, &
                                    its%comm, ierror)
      case (non_blocking)
        call MPI_Ineighbor_allgather(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, &
                                     its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Neighbor_allgather_init(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, &
                                          its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_neighbor_allgatherv)
      select case (its%form)
      case (blocking)
        call MPI_Neighbor_allgatherv(from, its%send_count, its%send_type, into, recv%counts, recv%places, &
                                     its%recv_type, its%comm, ierror)
      case (non_blocking)
        call MPI_Ineighbor_allgatherv(from, its%send_count, its%send_type, into, recv%counts, recv%places, &
                                      its%recv_type, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Neighbor_allgatherv_init(from, its%send_count, its%send_type, into, recv%counts, recv%places, &
                                           its%recv_type, its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_neighbor_alltoall)
      select case (its%form)
      case (blocking)
        call MPI_Neighbor_alltoall(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, &
                                   its%comm, ierror)
      case (non_blocking)
        call MPI_Ineighbor_alltoall(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, &
                                    its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Neighbor_alltoall_init(from, its%send_count, its%send_type, into, its%recv_count, its%recv_type, &
                                         its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_neighbor_alltoallv)
      select case (its%form)
      case (blocking)
        call MPI_Neighbor_alltoallv(from, send%counts, send%places, its%send_type, into, recv%counts, recv%places, &
                                    its%recv_type, its%comm, ierror)
      case (non_blocking)
        call MPI_Ineighbor_alltoallv(from, send%counts, send%places, its%send_type, into, recv%counts, recv%places, &
                                     its%recv_type, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Neighbor_alltoallv_init(from, send%counts, send%places, its%send_type, into, recv%counts, &
                                          recv%places, its%recv_type, its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    case (its_neighbor_alltoallw)
      select case (its%form)
      case (blocking)
        call MPI_Neighbor_alltoallw(from, send%counts, send%bytes, send%types, into, recv%counts, recv%bytes, &
                                    recv%types, its%comm, ierror)
      case (non_blocking)
        call MPI_Ineighbor_alltoallw(from, send%counts, send%bytes, send%types, into, recv%counts, recv%bytes, &
                                     recv%types, its%comm, its%request, ierror)
      case (persistent)
        call MPIX_Neighbor_alltoallw_init(from, send%counts, send%bytes, send%types, into, recv%counts, recv%bytes, &
                                          recv%types, its%comm, MPI_INFO_NULL, its%request, ierror)
      end select
    end select
    end associate
  end subroutine

end module
