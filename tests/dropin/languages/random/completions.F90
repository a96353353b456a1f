! Completes requests by all of MPI's functions that do so.
#include "../interface.inc"
#if defined(WITH_MPI_F08)
#define STATUS_COLUMN(i) i
#define TAG_OF(i) statuses(i)%MPI_TAG
#else
#define STATUS_COLUMN(i) :, i
#define TAG_OF(i) statuses(MPI_TAG, i)
#endif
module completions
  use mpi_interface
  use draws
  implicit none

  integer, parameter :: most_requests = 12
  character(len=18), parameter :: names_of_ways(0:9) = [character(len=18) :: 'waitall', 'testall', 'waitany', &
    'testany', 'waitsome', 'testsome', 'wait', 'test', 'request_get_status', 'test and waitall']

  integer, parameter, private :: tag = 7
  integer, target, asynchronous, private :: own_sent, own_received

contains

  ! Completes active requests by the way of that number, beside inactive ones and a message of this rank to itself. The
  ! places of requests in the array that MPI gets are drawn. `wrong` is empty, or says what was wrong.
  subroutine complete(requests, way, own, wrong)
    REQUEST_TYPE, intent(inout) :: requests(:)
    integer, intent(in) :: way
    type(Draw), intent(inout) :: own
    character(len=*), intent(out) :: wrong
    REQUEST_TYPE :: all_of_them(most_requests)
    STATUS_TYPE :: statuses(STATUS_SIZE most_requests)
    integer :: places(size(requests) + 3), indices(most_requests), n, i, index, done, ierror, error
    logical :: flag, with_statuses

    wrong = ''
    error = MPI_SUCCESS
    n = size(requests) + 3
    places = own%permutation(n)
    do i = 1, size(requests)
      all_of_them(places(i)) = requests(i)
    end do
    own_sent = 42
    own_received = 0
    call MPI_Irecv(own_received, 1, MPI_INTEGER, 0, tag, MPI_COMM_SELF, all_of_them(places(n - 2)), ierror)
    call MPI_Isend(own_sent, 1, MPI_INTEGER, 0, tag, MPI_COMM_SELF, all_of_them(places(n - 1)), ierror)
    all_of_them(places(n)) = MPI_REQUEST_NULL
    with_statuses = own%coin(2)
    do i = 1, most_requests
      TAG_OF(i) = -99
    end do

    flag = .false.
    select case (way)
    case (0)
      call wait_for_all()
    case (1)
      do while (.not. flag)
        if (with_statuses) then
          call MPI_Testall(n, all_of_them, flag, statuses, ierror)
        else
          call MPI_Testall(n, all_of_them, flag, MPI_STATUSES_IGNORE, ierror)
        end if
        call look(ierror)
      end do
    case (2)
      do
        call MPI_Waitany(n, all_of_them, index, statuses(STATUS_COLUMN(most_requests)), ierror)
        call look(ierror)
        if (index == MPI_UNDEFINED) exit
        if (index == places(n)) wrong = 'the index of an inactive request'
        if (index == places(n - 2)) TAG_OF(places(n - 2)) = TAG_OF(most_requests)
      end do
      with_statuses = .true.
    case (3)
      do
        call MPI_Testany(n, all_of_them, index, flag, statuses(STATUS_COLUMN(most_requests)), ierror)
        call look(ierror)
        if (.not. flag) cycle
        if (index == MPI_UNDEFINED) exit
        if (index == places(n)) wrong = 'the index of an inactive request'
        if (index == places(n - 2)) TAG_OF(places(n - 2)) = TAG_OF(most_requests)
      end do
      with_statuses = .true.
    case (4, 5)
      do
        if (way == 4) then
          call MPI_Waitsome(n, all_of_them, done, indices, statuses, ierror)
        else
          call MPI_Testsome(n, all_of_them, done, indices, statuses, ierror)
        end if
        call look(ierror)
        if (done == MPI_UNDEFINED) exit
        do i = 1, done
          if (indices(i) == places(n)) wrong = 'the index of an inactive request'
          if (indices(i) == places(n - 2) .and. TAG_OF(i) /= tag) wrong = 'the tag in a status'
        end do
      end do
      with_statuses = .false.
    case (6)
      do i = 1, n
        call MPI_Wait(all_of_them(places(i)), statuses(STATUS_COLUMN(places(i))), ierror)
        call look(ierror)
      end do
      with_statuses = .true.
    case (7, 8)
      do i = 1, n
        flag = .false.
        do while (.not. flag)
          if (way == 7) then
            call MPI_Test(all_of_them(places(i)), flag, statuses(STATUS_COLUMN(places(i))), ierror)
          else
            call MPI_Request_get_status(all_of_them(places(i)), flag, statuses(STATUS_COLUMN(places(i))), ierror)
          end if
          call look(ierror)
        end do
      end do
      if (way == 8) call wait_for_all()
    case default
      do i = 1, n
        call MPI_Test(all_of_them(i), flag, MPI_STATUS_IGNORE, ierror)
        call look(ierror)
        if (flag .and. i == places(n - 2)) TAG_OF(i) = tag
        if (flag .and. i == places(n - 2)) with_statuses = .false.
      end do
      call wait_for_all()
    end select

    if (with_statuses .and. TAG_OF(places(n - 2)) /= tag) wrong = 'the tag in a status'
    if (own_received /= own_sent) wrong = 'the message to itself'
    do i = 1, size(requests)
      requests(i) = all_of_them(places(i))
    end do
    if (error /= MPI_SUCCESS) wrong = 'the error code of a completion'

  contains

    subroutine look(code)
      integer, intent(in) :: code
      if (code /= MPI_SUCCESS) error = code
    end subroutine

    subroutine wait_for_all()
      if (with_statuses) then
        call MPI_Waitall(n, all_of_them, statuses, ierror)
      else
        call MPI_Waitall(n, all_of_them, MPI_STATUSES_IGNORE, ierror)
      end if
      call look(ierror)
    end subroutine

  end subroutine

end module
