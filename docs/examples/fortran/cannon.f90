! Cannon's matrix product C = A B on a square of processes: MPI_Cart_shift_xchg rotates the blocks in place. Process
! (i, j) holds the blocks (i, j); A moves along dimension 1 of the grid, B along dimension 0.
program cannon
  use mpi_f08
  use fab_mpi_f08
  implicit none
  integer, parameter :: n = 60  ! rows of a block
  integer :: ranks, rank, side, place(2), step, i, j
  type(MPI_Comm) :: grid
  double precision :: a(n, n), b(n, n), c(n, n), largest, error

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  side = nint(sqrt(real(ranks)))
  if (side**2 /= ranks) error stop 'the number of ranks must be a square'
  call MPI_Cart_create(MPI_COMM_WORLD, 2, [side, side], [.true., .true.], .false., grid)
  call MPI_Comm_rank(grid, rank)
  call MPI_Cart_coords(grid, rank, 2, place)

  do j = 1, n
    do i = 1, n
      a(i, j) = entry_of(1, place(1)*n + i, place(2)*n + j)
      b(i, j) = entry_of(2, place(1)*n + i, place(2)*n + j)
    end do
  end do
  call shift(a, 1, -place(1))  ! align
  call shift(b, 0, -place(2))
  c = 0
  do step = 1, side
    c = c + matmul(a, b)
    call shift(a, 1, -1)
    call shift(b, 0, -1)
  end do

  error = maxval(abs(c - serial_product()))
  call MPI_Reduce(error, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, grid)
  if (rank == 0 .and. largest < 1d-10) print '(a)', 'the product is that of one process'
  if (rank == 0 .and. largest >= 1d-10) print '(a,es10.2)', 'the product is wrong by', largest
  call MPI_Comm_free(grid)
  call MPI_Finalize()

contains

  subroutine shift(block, direction, displacement)
    double precision, intent(inout) :: block(n, n)
    integer, intent(in) :: direction, displacement
    call MPI_Cart_shift_xchg(MPI_IN_PLACE, n*n, MPI_DOUBLE_PRECISION, block, n*n, MPI_DOUBLE_PRECISION, &
      direction, displacement, grid)
  end subroutine

  ! Entry (row, column) of matrix 1 or 2.
  double precision function entry_of(matrix, row, column)
    integer, intent(in) :: matrix, row, column
    entry_of = sin(1d0 + 12.9898d0*row + 78.233d0*column + 3.7d0*matrix)
  end function

  ! This process's block of the product, from whole rows of A and columns of B.
  function serial_product() result(block)
    double precision :: block(n, n)
    integer :: row, column, k
    block = 0
    do column = 1, n
      do row = 1, n
        do k = 1, side*n
          block(row, column) = block(row, column) &
            + entry_of(1, place(1)*n + row, k)*entry_of(2, k, place(2)*n + column)
        end do
      end do
    end do
  end function
end program
