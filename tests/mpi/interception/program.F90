! Completes fab's requests from Fortran on two ranks, through the interface that the macro names: WITH_MPIF_H, WITH_MPI
! or WITH_MPI_F08. With MPI's sentinels for statuses, and logical flags. EXPECT_COMPLETED_BY=mpi as in program.cpp.
#if defined(WITH_MPI_F08)
#define REQUEST_TYPE type(MPI_Request)
#define STATUS_TYPE type(MPI_Status)
#define HANDLE(request) request%MPI_VAL
#define STATUS_SIZE
#else
#define REQUEST_TYPE integer
#define STATUS_TYPE integer
#define HANDLE(request) request
#define STATUS_SIZE MPI_STATUS_SIZE,
#endif
program completes_requests
#if defined(WITH_MPI_F08)
  use mpi_f08
#elif defined(WITH_MPI)
  use mpi
#endif
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
#if defined(WITH_MPIF_H)
  include 'mpif.h'
#endif

  interface
    integer(c_int) function shim_prepare(ints) bind(c)
      import :: c_int
      integer(c_int), value :: ints
    end function
    integer(c_int) function shim_run() bind(c)
      import :: c_int
    end function
    integer(c_int) function shim_start_f(request) bind(c)
      import :: c_int
      integer(c_int) :: request
    end function
    integer(c_int) function shim_make_f(request) bind(c)
      import :: c_int
      integer(c_int) :: request
    end function
    integer(c_int) function shim_wrong() bind(c)
      import :: c_int
    end function
    subroutine shim_end() bind(c)
    end subroutine
  end interface

  integer, parameter :: rounds = 5
  integer :: sizes(2) = [3, 200000]
  integer :: rank, ierror, failures, all_failures, i, way, round
  integer :: sent, received, go
  character(len=8) :: completed_by

  failures = 0
  call get_environment_variable('EXPECT_COMPLETED_BY', completed_by)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  do i = 1, size(sizes)
    call prepare(sizes(i))
    call expect(shim_run() == MPI_SUCCESS, 'a blocking exchange')
    call expect_arrived('a blocking exchange')
    do way = 1, 13
      do round = 1, rounds
        call complete_one(sizes(i), way)
      end do
    end do
    call expect_not_early(sizes(i))
    call freed_while_active(sizes(i))
    call persistent(sizes(i))
  end do
  call shim_end()
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
  if (all_failures > 0) stop 1
  if (rank == 0) print '(a)', 'all requests were complete when they were said to be'

contains

  subroutine prepare(ints)
    integer, intent(in) :: ints
    call expect(shim_prepare(int(ints, c_int)) == 0, 'memory')
  end subroutine

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
    failures = failures + 1
  end subroutine

  subroutine expect_arrived(what)
    character(len=*), intent(in) :: what
    call expect(shim_wrong() == 0, what//': data')
    call expect(ierror == MPI_SUCCESS, what//': ierror')
  end subroutine

  ! An exchange, a null request and two of MPI's own in one array, completed in one of thirteen ways.
  subroutine complete_one(ints, way)
    integer, intent(in) :: ints, way
    REQUEST_TYPE :: requests(4)
    STATUS_TYPE :: statuses(STATUS_SIZE 4)
    integer :: indices(4), k, index, outcount, completed
    logical :: flag
    call prepare(ints)
    call expect(shim_start_f(HANDLE(requests(1))) == MPI_SUCCESS, 'start')
    requests(2) = MPI_REQUEST_NULL
    sent = 100 * way + rank
    received = -1
    call MPI_Irecv(received, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Isend(sent, 1, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, requests(4), ierror)
    flag = .false.
    completed = 0
    select case (way)
    case (1)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
      call expect_arrived('MPI_Wait')
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    case (2)
#if defined(WITH_MPI_F08)
      call MPI_Wait(requests(1), statuses(1), ierror)
      call MPI_Get_count(statuses(1), MPI_BYTE, k, ierror)
#else
      call MPI_Wait(requests(1), statuses(:, 1), ierror)
      call MPI_Get_count(statuses(:, 1), MPI_BYTE, k, ierror)
#endif
      call expect(k == 0, 'the status of MPI_Wait')
      call MPI_Waitall(4, requests, statuses, ierror)
    case (3)
      do k = 1, 4
        flag = .false.
        do while (.not. flag)
          call MPI_Test(requests(k), flag, MPI_STATUS_IGNORE, ierror)
        end do
      end do
    case (4)
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    case (5)
      call MPI_Waitall(4, requests, statuses, ierror)
#if defined(WITH_MPI_F08)
      call MPI_Get_count(statuses(3), MPI_INTEGER, k, ierror)
#else
      call MPI_Get_count(statuses(:, 3), MPI_INTEGER, k, ierror)
#endif
      call expect(k == 1, 'the status of a message')
    case (6)
      do while (.not. flag)
        call MPI_Testall(4, requests, flag, MPI_STATUSES_IGNORE, ierror)
      end do
    case (7)
      do
        call MPI_Waitany(4, requests, index, MPI_STATUS_IGNORE, ierror)
        if (index == MPI_UNDEFINED) exit
        completed = completed + 1
      end do
      call expect(completed == 3, 'MPI_Waitany''s indices')
    case (8)
      do
        call MPI_Testany(4, requests, index, flag, MPI_STATUS_IGNORE, ierror)
        if (flag .and. index == MPI_UNDEFINED) exit
      end do
    case (9)
      do
        call MPI_Waitsome(4, requests, outcount, indices, MPI_STATUSES_IGNORE, ierror)
        if (outcount == MPI_UNDEFINED) exit
        completed = completed + outcount
      end do
      call expect(completed == 3, 'MPI_Waitsome''s count')
    case (10)
      do while (.not. flag)  ! Open MPI 4.1 never says yes here to those who ignore the status
#if defined(WITH_MPI_F08)
        call MPI_Request_get_status(requests(1), flag, statuses(1), ierror)
#else
        call MPI_Request_get_status(requests(1), flag, statuses(:, 1), ierror)
#endif
      end do
      call expect_arrived('MPI_Request_get_status')
      call MPI_Cancel(requests(1), ierror)
      call MPI_Request_free(requests(1), ierror)
      do
        call MPI_Testsome(4, requests, outcount, indices, MPI_STATUSES_IGNORE, ierror)
        if (outcount == MPI_UNDEFINED) exit
      end do
    case (11)
      do
#if defined(WITH_MPI_F08)
        call MPI_Waitany(4, requests, index, statuses(1), ierror)
#else
        call MPI_Waitany(4, requests, index, statuses(:, 1), ierror)
#endif
        if (index == MPI_UNDEFINED) exit
        completed = completed + 1
        call expect_count(statuses, 1, index)
      end do
      call expect(completed == 3, 'MPI_Waitany''s indices with a status')
    case (12, 13)
      do
        if (way == 12) then
          call MPI_Waitsome(4, requests, outcount, indices, statuses, ierror)
        else
          call MPI_Testsome(4, requests, outcount, indices, statuses, ierror)
        end if
        if (outcount == MPI_UNDEFINED) exit
        completed = completed + outcount
        do k = 1, outcount
          call expect_count(statuses, k, indices(k))
        end do
      end do
      call expect(completed == 3, 'the count of MPI_Waitsome or MPI_Testsome with statuses')
    end select
    call expect_arrived('completion '//achar(iachar('0') + way))
    call expect(received == 100 * way + 1 - rank, 'a message of MPI''s own')
    do k = 1, 4
      call expect(requests(k) == MPI_REQUEST_NULL, 'a request that is complete')
    end do
  end subroutine

  ! What the kth status says of complete_one's request of that index: the exchange, the first, is no message.
  subroutine expect_count(statuses, k, index)
    STATUS_TYPE, intent(in) :: statuses(STATUS_SIZE *)
    integer, intent(in) :: k, index
    integer :: elements
    if (index == 4) return  ! a send
#if defined(WITH_MPI_F08)
    call MPI_Get_count(statuses(k), MPI_INTEGER, elements, ierror)
#else
    call MPI_Get_count(statuses(:, k), MPI_INTEGER, elements, ierror)
#endif
    call expect(elements == merge(0, 1, index == 1), 'the status of a request among several')
  end subroutine

  subroutine freed_while_active(ints)
    integer, intent(in) :: ints
    REQUEST_TYPE :: request
    logical :: flag
    call prepare(ints)
    call expect(shim_start_f(HANDLE(request)) == MPI_SUCCESS, 'start')
    call MPI_Request_free(request, ierror)
    call expect(request == MPI_REQUEST_NULL, 'a request that is free')
    do while (shim_wrong() > 0)
      call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierror)
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine

  ! Rank 1 starts when rank 0 says so.
  subroutine expect_not_early(ints)
    integer, intent(in) :: ints
    REQUEST_TYPE :: request
    logical :: flag
    integer :: look
    call prepare(ints)
    go = 1
    if (rank == 1) call MPI_Recv(go, 1, MPI_INTEGER, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call expect(shim_start_f(HANDLE(request)) == MPI_SUCCESS, 'start')
    if (rank == 0) then
      do look = 1, 100
        call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierror)
        call expect(.not. flag, 'MPI_Test before the other rank has started')
        if (flag) exit
      end do
      call MPI_Send(go, 1, MPI_INTEGER, 1, 6, MPI_COMM_WORLD, ierror)
    end if
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call expect_arrived('MPI_Wait after the other rank has started')
  end subroutine

  subroutine persistent(ints)
    integer, intent(in) :: ints
    REQUEST_TYPE :: requests(1)
    integer :: round
    call prepare(ints)
    if (completed_by == 'mpi') then
      call expect(shim_make_f(HANDLE(requests(1))) /= MPI_SUCCESS, 'the refusal of a persistent exchange')
      return
    end if
    call expect(shim_make_f(HANDLE(requests(1))) == MPI_SUCCESS, 'a persistent exchange')
    do round = 1, 2 * rounds
      call prepare(ints)
      if (mod(round, 2) == 0) then
        call MPI_Start(requests(1), ierror)
      else
        call MPI_Startall(1, requests, ierror)
      end if
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
      call expect_arrived('a persistent exchange')
    end do
    call MPI_Request_free(requests(1), ierror)
  end subroutine

end program
