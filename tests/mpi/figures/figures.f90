! Figures 2 to 4 of "Topological Collectives for MPI-2": grids of 3 x 3 ranks, in which rank r sends 10 r + i in block
! i, counted from 0. Ends with status 1 if any rank finds something wrong.
program figures
  use mpi_f08
  use fab_mpi_f08
  implicit none
  integer :: rank, wrong, all_wrong, value
  type(MPI_Comm) :: open_grid, torus

  wrong = 0
  call MPI_Init()
  call MPI_Cart_create(MPI_COMM_WORLD, 2, [3, 3], [.false., .false.], .false., open_grid)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, [3, 3], [.true., .true.], .false., torus)
  call MPI_Comm_rank(open_grid, rank)

  ! Figure 2: rank 4, in the middle.
  call expect_neighbors(open_grid, 4, [7, 1, 5, 3])
  call expect_blocks(open_grid, 4, [70, 10, 52, 32])
  ! Figure 3: rank 8, in a corner, of a grid that is not periodic and of one that is.
  call expect_neighbors(open_grid, 8, [5, 7])
  call expect_blocks(open_grid, 8, [50, 71])
  call expect_neighbors(torus, 8, [2, 5, 6, 7])
  call expect_blocks(torus, 8, [21, 50, 63, 72])
  ! Figure 4: a shift of a single buffer in the second dimension by -1.
  value = rank
  call MPI_Cart_shift_xchg(MPI_IN_PLACE, 1, MPI_INTEGER, value, 1, MPI_INTEGER, 1, -1, open_grid)
  call expect(value == merge(rank + 1, rank, mod(rank, 3) < 2), 'figure 4, not periodic')
  value = rank
  call MPI_Cart_shift_xchg(MPI_IN_PLACE, 1, MPI_INTEGER, value, 1, MPI_INTEGER, 1, -1, torus)
  call expect(value == merge(rank + 1, rank - 2, mod(rank, 3) < 2), 'figure 4, periodic')

  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Comm_free(open_grid)
  call MPI_Comm_free(torus)
  call MPI_Finalize()
  if (all_wrong /= 0) stop 1

contains

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    wrong = wrong + 1
    print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
  end subroutine

  subroutine expect_neighbors(grid, of, expected)
    type(MPI_Comm), intent(in) :: grid
    integer, intent(in) :: of, expected(:)
    integer :: count, neighbors(4)
    call MPI_Comm_neighbors_count(grid, of, count)
    call expect(count == size(expected), 'number of neighbors')
    call MPI_Comm_neighbors(grid, of, 4, neighbors)
    call expect(all(neighbors(:count) == expected), 'neighbors')
  end subroutine

  ! All ranks exchange; rank `of` looks at what it got.
  subroutine expect_blocks(grid, of, expected)
    type(MPI_Comm), intent(in) :: grid
    integer, intent(in) :: of, expected(:)
    integer :: i, send(4), recv(4)
    send = [(10*rank + i, i=0, 3)]
    recv = -1
    call MPI_Neighbor_xchg(send, 1, MPI_INTEGER, recv, 1, MPI_INTEGER, grid)
    if (rank == of) call expect(all(recv(:size(expected)) == expected), 'blocks')
    if (rank == of) call expect(all(recv(size(expected) + 1:) == -1), 'no block for a border')
  end subroutine
end program
