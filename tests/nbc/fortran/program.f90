! The Fortran binding. Ends with status 1 when any rank finds something wrong. --expect-ranks=N: so many there are.
module checks
  implicit none
  include 'nbcf.h'
  integer :: wrong = 0
contains
  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    print *, 'wrong: ', what
  end subroutine

  ! The product of 2 x 2 matrices, which do not commute.
  subroutine multiply(in, inout, length, datatype)
    integer :: length, datatype
    integer :: in(2, 2, *), inout(2, 2, *)
    integer :: i
    do i = 1, length
      inout(:, :, i) = matmul(in(:, :, i), inout(:, :, i))
    end do
  end subroutine

  subroutine move(rank, ranks)
    include 'mpif.h'
    integer, intent(in) :: rank, ranks
    integer :: handle, ierror, i, values(3), all(ranks), summands(ranks)
    values = -1
    if (rank == 0) values = [1, 2, 3]
    call nbc_ibcast(values, 3, MPI_INTEGER, 0, MPI_COMM_WORLD, handle, ierror)
    call expect(ierror == NBC_OK, 'ibcast')
    do
      call nbc_test(handle, ierror)
      if (ierror /= NBC_CONTINUE) exit
    end do
    call expect(ierror == NBC_OK .and. handle == NBC_REQUEST_NULL, 'test')
    call expect(all3(values), 'broadcast values')

    all = -1
    all(rank + 1) = rank
    call nbc_iallgather(MPI_IN_PLACE, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, handle, ierror)
    call expect(ierror == NBC_OK, 'iallgather')
    call nbc_wait(handle, ierror)
    call expect(ierror == NBC_OK, 'wait')
    do i = 1, ranks
      call expect(all(i) == i - 1, 'gathered values')
    end do

    summands = 1
    call nbc_ireduce_scatter_block(summands, i, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, handle, ierror)
    call nbc_wait(handle, ierror)
    call expect(ierror == NBC_OK .and. i == ranks, 'reduce_scatter_block')
  end subroutine

  logical function all3(values)
    integer, intent(in) :: values(3)
    all3 = values(1) == 1 .and. values(2) == 2 .and. values(3) == 3
  end function

  subroutine reduce(rank, ranks)
    include 'mpif.h'
    integer, intent(in) :: rank, ranks
    integer :: handle, ierror, op, datatype, i, mine(2, 2), product(2, 2), expected(2, 2)
    call MPI_Op_create(multiply, .false., op, ierror)
    call MPI_Type_contiguous(4, MPI_INTEGER, datatype, ierror)
    call MPI_Type_commit(datatype, ierror)
    mine = matrix(rank)
    call nbc_iallreduce(mine, product, 1, datatype, op, MPI_COMM_WORLD, handle, ierror)
    call expect(ierror == NBC_OK, 'iallreduce')
    call nbc_wait(handle, ierror)
    expected = matrix(0)
    do i = 1, ranks - 1
      expected = matmul(expected, matrix(i))
    end do
    call expect(all(product == expected), 'product of matrices')
    call MPI_Type_free(datatype, ierror)
    call MPI_Op_free(op, ierror)
    call nbc_iallreduce(mine, product, 1, MPI_REAL, MPI_BAND, MPI_COMM_WORLD, handle, ierror)
    call expect(ierror == NBC_OP_NOT_SUPPORTED .and. handle == NBC_REQUEST_NULL, 'an undefined operation')
  end subroutine

  function matrix(rank)
    integer, intent(in) :: rank
    integer :: matrix(2, 2)
    matrix = reshape([1, rank, 2, 1], [2, 2])
  end function

  subroutine many()
    include 'mpif.h'
    integer, parameter :: count = 5
    integer :: handles(count), ierror, i, index, outcount, indices(count)
    logical :: flag
    call begin_all()
    call nbc_waitall(count, handles, ierror)
    call expect(ierror == NBC_OK .and. all(handles == NBC_REQUEST_NULL), 'waitall')

    call begin_all()
    do i = 1, count
      call nbc_waitany(count, handles, index, ierror)
      call expect(ierror == NBC_OK .and. index >= 1 .and. index <= count, 'waitany')
      call expect(handles(index) == NBC_REQUEST_NULL, 'the handle of waitany')
    end do
    call nbc_waitany(count, handles, index, ierror)
    call expect(index == MPI_UNDEFINED, 'waitany without handles')

    call begin_all()
    flag = .false.
    do while (.not. flag)
      call nbc_testall(count, handles, flag, ierror)
    end do
    call expect(all(handles == NBC_REQUEST_NULL), 'testall')

    call begin_all()
    i = 0
    do while (i < count)
      call nbc_waitsome(count, handles, outcount, indices, ierror)
      call expect(outcount >= 1 .and. all(handles(indices(1:outcount)) == NBC_REQUEST_NULL), 'waitsome')
      i = i + outcount
    end do
    call nbc_wait(handles(1), ierror)
    call expect(ierror == NBC_OK, 'wait without an operation')
    handles(1) = 12345
    call nbc_wait(handles(1), ierror)
    call expect(ierror == NBC_INVALID_PARAM, 'a number that is no handle')
  contains
    subroutine begin_all()
      integer :: k
      do k = 1, count
        call nbc_ibarrier(MPI_COMM_WORLD, handles(k), ierror)
        call expect(ierror == NBC_OK, 'ibarrier')
      end do
    end subroutine
  end subroutine
end module

program fortran_binding
  use checks
  implicit none
  include 'mpif.h'
  integer :: ierror, rank, ranks, expected_ranks, all_wrong
  character(32) :: argument
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, argument)
  read (argument(len('--expect-ranks=') + 1:), *) expected_ranks
  call expect(ranks == expected_ranks, 'number of ranks')
  call move(rank, ranks)
  call reduce(rank, ranks)
  call many()
  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
  if (all_wrong /= 0) stop 1
end program
