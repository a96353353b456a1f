! random [FIRST_SEED [SEEDS [trace]]]: random collectives from Fortran, through the interface that the macro names:
! WITH_MPIF_H, WITH_MPI or WITH_MPI_F08. It knows nothing of fab. Each seed makes a communicator and a topology on it,
! and calls all functions in an order of its own, up to four of them at a time, in random forms. What has to arrive
! follows from the seed. The first difference ends the job. `trace` has each rank say what it is about to call.
#include "../interface.inc"
program random_collectives
  use mpi_interface
  use draws
  use layouts
  use calls
  use topologies
  use data_of_calls
  use completions
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none

  integer, parameter :: most_at_once = 4
  type(KnownCall), target, save :: batch(most_at_once)
  type(Group) :: parent
  type(Neighborhood) :: neighbors
  type(Draw) :: own
  logical :: traces
  integer :: order(functions), first_seed, seeds, seed, world_rank, world_ranks, done, n, way, round, ierror

  first_seed = argument(1, 1)
  seeds = argument(2, 10)
  traces = command_argument_count() > 2
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, world_rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, world_ranks, ierror)
  if (world_ranks > most_ranks) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  do seed = first_seed, first_seed + seeds - 1
    own%state = mixed(int(seed, int64), int(7000 + world_rank, int64))
    call make_group(seed, parent)
    call make_neighborhood(parent, neighbors)
    order = parent%alike%permutation(functions)
    done = 0
    do while (done < functions)
      n = min(parent%alike%number(1, most_at_once), functions - done)
      call run_batch(order(done + 1:done + n))
      done = done + n
    end do
    call meet_at_barriers()
    if (neighbors%member) call MPI_Comm_free(neighbors%comm, ierror)
    if (parent%comm /= MPI_COMM_WORLD) call MPI_Comm_free(parent%comm, ierror)
  end do
  call MPI_Finalize(ierror)

contains

  integer function argument(place, otherwise)
    integer, intent(in) :: place, otherwise
    character(len=12) :: text
    argument = otherwise
    if (command_argument_count() < place) return
    call get_command_argument(place, text)
    read (text, *) argument
  end function

  ! Makes the calls in this order on all ranks. A persistent one starts when it is made, or after all of them are made.
  subroutine run_batch(which)
    integer, intent(in) :: which(:)
    logical :: starts_later, is_started, frees_early(most_at_once)
    integer :: i, function, form, rounds
    starts_later = parent%alike%coin(2)
    is_started = .not. parent%alike%coin(8)
    rounds = merge(parent%alike%number(1, 3), 0, is_started)
    round = 1
    do i = 1, size(which)
      form = parent%alike%number(blocking, persistent)
      function = which(i)
      if (function == its_neighbor_alltoallw .and. .not. neighbors%may_have_types) function = its_neighbor_alltoallv
      call prepare(function, form, parent, neighbors, own, batch(i))
      if (.not. batch(i)%takes_part) cycle
      call fill(batch(i), 1)
      if (traces) call trace(batch(i))
      call perform(batch(i)%Arguments, ierror)
      call expect(batch(i), ierror == MPI_SUCCESS, 'its error code')
      frees_early(i) = own%coin(2)
      if (frees_early(i)) call free_handles(batch(i))
      if (form == blocking) call compare(batch(i))
      if (form == persistent .and. is_started .and. .not. starts_later) call start(batch(i))
    end do
    if (is_started .and. starts_later) call start_all(size(which))
    call finish(size(which), is_started, rounds > 0)
    do round = 2, rounds
      do i = 1, size(which)
        if (batch(i)%takes_part .and. batch(i)%form == persistent) call fill(batch(i), round)
      end do
      call start_all(size(which))
      call finish(size(which), .true., .true.)
    end do
    do i = 1, size(which)
      if (.not. batch(i)%takes_part) cycle
      if (.not. frees_early(i)) call free_handles(batch(i))
      if (batch(i)%form /= persistent) cycle
      call MPI_Request_free(batch(i)%request, ierror)
      call expect(batch(i), ierror == MPI_SUCCESS .and. batch(i)%request == MPI_REQUEST_NULL, 'its request when freed')
    end do
  end subroutine

  ! One line on standard error, before the call.
  subroutine trace(its)
    type(KnownCall), intent(in) :: its
    write (0, '(a,i0,a,i0,7a,i0,a,i0,a,i0,3(a,l1))') 'process ', world_rank, ', seed ', seed, ': ', &
      trim(names_of_functions(its%function)), ', ', trim(names_of_forms(its%form)), ', on ', trim(its%communicator), &
      ', rank ', its%rank, ' of ', its%ranks, ', regular ', its%regular, ', in place: ', its%in_place, &
      ', from the bottom: ', its%from_bottom, ', to the bottom: ', its%to_bottom
  end subroutine

  subroutine free_handles(its)
    type(KnownCall), intent(inout) :: its
    call free_types(its%send)
    call free_types(its%recv)
    if (is_reduction(its%function)) then
      if (its%reduced%is_of_the_program()) call MPI_Op_free(its%reduced%op, ierror)
    end if
  end subroutine

  subroutine start(its)
    type(KnownCall), intent(inout) :: its
    call MPI_Start(its%request, ierror)
    call expect(its, ierror == MPI_SUCCESS, 'the error code of its start')
  end subroutine

  ! The persistent ones of so many calls.
  subroutine start_all(calls_of_batch)
    integer, intent(in) :: calls_of_batch
    REQUEST_TYPE :: one(1)
    integer :: i
    do i = 1, calls_of_batch
      if (.not. batch(i)%takes_part .or. batch(i)%form /= persistent) cycle
      if (own%coin(2)) then
        call start(batch(i))
      else
        one(1) = batch(i)%request
        call MPI_Startall(1, one, ierror)
        call expect(batch(i), ierror == MPI_SUCCESS .and. one(1) == batch(i)%request, 'the error code of its startall')
      end if
    end do
  end subroutine

  ! Completes the requests of so many calls, in a way of this rank's, and compares their buffers.
  subroutine finish(calls_of_batch, with_persistent, is_started)
    integer, intent(in) :: calls_of_batch
    logical, intent(in) :: with_persistent, is_started
    REQUEST_TYPE :: requests(most_at_once)
    character(len=40) :: wrong
    integer :: waits_for(most_at_once), i, m
    m = 0
    do i = 1, calls_of_batch
      if (.not. batch(i)%takes_part .or. batch(i)%form == blocking) cycle
      if (batch(i)%form == non_blocking .and. round > 1) cycle
      m = m + 1
      waits_for(m) = i
      requests(m) = batch(i)%request
    end do
    if (m == 0) return
    way = own%number(0, 9)
    call complete(requests(1:m), way, own, wrong)
    do i = 1, m
      associate (its => batch(waits_for(i)))
        its%request = requests(i)
        call expect(its, wrong == '', wrong)
        call expect(its, (its%request == MPI_REQUEST_NULL) .eqv. its%form == non_blocking, 'its request')
        if (its%form == non_blocking .or. with_persistent .and. is_started) call compare(its)
      end associate
    end do
  end subroutine

  subroutine compare(its)
    type(KnownCall), intent(inout) :: its
    call compare_side(its, its%recv, 'received')
    call compare_side(its, its%send, 'sent')
  end subroutine

  subroutine compare_side(its, side_of_it, name)
    type(KnownCall), intent(in) :: its
    type(Side), intent(in) :: side_of_it
    character(len=*), intent(in) :: name
    character(len=200) :: text
    integer(int64) :: at
    integer :: block_of_it, item
    do at = 1, size(side_of_it%memory, kind=int64)
      if (side_of_it%memory(at) == side_of_it%expected(at)) cycle
      call find_item(side_of_it, at, block_of_it, item)
      write (text, '(3a,5(i0,a),i0)') 'what it ', name, ': byte ', at - side_of_it%origin, ', block ', block_of_it, &
        ' of ', side_of_it%blocks, ', item ', item, ': ', side_of_it%memory(at), ' instead of ', side_of_it%expected(at)
      call expect(its, .false., trim(text))
    end do
  end subroutine

  ! Ends the job if it is not right.
  subroutine expect(its, is_right, wrong)
    type(KnownCall), intent(in) :: its
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: wrong
    if (is_right) return
    print '(a,i0,7a,i0,a,i0)', 'seed ', seed, ': ', trim(names_of_functions(its%function)), ', ', &
      trim(names_of_forms(its%form)), ', on ', trim(its%communicator), ', rank ', its%rank, ' of ', its%ranks
    print '(a,i0,2a,3(a,l1),a,i0,3a)', '  round ', round, ', completed by ', trim(names_of_ways(way)), ', in place: ', &
      its%in_place, ', from the bottom: ', its%from_bottom, ', to the bottom: ', its%to_bottom, ', root ', its%root, &
      trim(merge(', '//names_of_kinds(its%reduced%kind_of_element), repeat(' ', 26), is_reduction(its%function))), &
      trim(merge(', '//names_of_operations(its%reduced%operation), repeat(' ', 26), is_reduction(its%function)))
    print '(2a)', '  wrong: ', trim(wrong)
    flush (6)
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  ! The others start, and see that they are not complete before rank 0 has started, which waits for that.
  subroutine meet_at_barriers()
    REQUEST_TYPE :: requests(1)
    character(len=40) :: wrong
    integer :: form, token, other, i
    logical :: flag
    batch(1)%function = its_barrier
    batch(1)%rank = parent%rank
    batch(1)%ranks = parent%ranks
    do form = non_blocking, persistent
      batch(1)%form = form
      if (form == persistent) call MPIX_Barrier_init(parent%comm, MPI_INFO_NULL, requests(1), ierror)
      token = 1
      if (parent%rank == 0) then
        do other = 1, parent%ranks - 1
          call MPI_Recv(token, 1, MPI_INTEGER, other, 5, parent%comm, MPI_STATUS_IGNORE, ierror)
        end do
      end if
      if (form == persistent) call MPI_Start(requests(1), ierror)
      if (form == non_blocking) call MPI_Ibarrier(parent%comm, requests(1), ierror)
      if (parent%rank > 0) then
        do i = 1, 20
          call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierror)
          call expect(batch(1), .not. flag, 'it is complete before rank 0 has started')
        end do
        call MPI_Send(token, 1, MPI_INTEGER, 0, 5, parent%comm, ierror)
      end if
      way = own%number(0, 9)
      call complete(requests, way, own, wrong)
      call expect(batch(1), wrong == '', wrong)
      if (form == persistent) call MPI_Request_free(requests(1), ierror)
    end do
  end subroutine

end program
