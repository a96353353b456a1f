! Heat flows through a cube from one hot wall: a 7-point stencil. The faces of the local block are subarray types, so
! nothing is packed by hand, and the exchange runs behind the cells that need no halo.
program jacobi
  use mpi_f08
  use fab_mpi_f08
  implicit none
  integer, parameter :: cells = 48, steps = 200  ! cells of the cube per dimension
  integer :: ranks, rank, dims(3), place(3), n(3), neighbors, i, step
  type(MPI_Comm) :: grid
  type(MPI_Datatype) :: own(6), halo(6)
  type(MPI_Request) :: exchange(2)
  integer, parameter :: ones(6) = 1
  integer(MPI_ADDRESS_KIND), parameter :: zeros(6) = 0
  double precision, allocatable, asynchronous :: even(:, :, :), odd(:, :, :)
  double precision :: heat, all_heat

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  dims = 0
  call MPI_Dims_create(ranks, 3, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 3, dims, [.false., .false., .false.], .false., grid)
  call MPI_Comm_rank(grid, rank)
  call MPI_Cart_coords(grid, rank, 3, place)

  n = cells*(place + 1)/dims - cells*place/dims  ! own cells
  allocate (even(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1), odd(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1))
  even = 0
  odd = 0
  if (place(1) == 0) then  ! the hot wall
    even(0, :, :) = 1
    odd(0, :, :) = 1
  end if

  call make_faces(0, own)
  call make_faces(1, halo)
  ! Sends own cells and receives halo cells of the same array.
  call MPI_Neighbor_xchgw_init(even, ones, zeros, own, even, ones, zeros, halo, grid, MPI_INFO_NULL, exchange(1))
  call MPI_Neighbor_xchgw_init(odd, ones, zeros, own, odd, ones, zeros, halo, grid, MPI_INFO_NULL, exchange(2))
  do i = 1, neighbors
    call MPI_Type_free(own(i))
    call MPI_Type_free(halo(i))
  end do

  do step = 1, steps, 2
    call relax(even, odd, exchange(1))
    call relax(odd, even, exchange(2))
  end do

  heat = sum(even(1:n(1), 1:n(2), 1:n(3)))
  call MPI_Reduce(heat, all_heat, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, grid)
  if (rank == 0) print '(a,f0.3)', 'heat in the cube: ', all_heat
  do i = 1, 2
    call MPI_Request_free(exchange(i))
  end do
  call MPI_Comm_free(grid)
  call MPI_Finalize()

contains

  ! The faces next to the neighbors, in the order of fab's blocks: in each dimension +1 before -1, none where the grid
  ! ends. beyond: 0 for own cells, 1 for the halo cells there.
  subroutine make_faces(beyond, types)
    integer, intent(in) :: beyond
    type(MPI_Datatype), intent(out) :: types(6)
    integer :: d, sign, from, to, face(3), start(3)
    neighbors = 0
    do d = 1, 3
      do sign = 1, -1, -2
        call MPI_Cart_shift(grid, d - 1, sign, from, to)
        if (to == MPI_PROC_NULL) cycle
        face = n
        face(d) = 1
        start = 1
        start(d) = merge(n(d) + beyond, 1 - beyond, sign > 0)
        neighbors = neighbors + 1
        call MPI_Type_create_subarray(3, n + 2, face, start, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, types(neighbors))
        call MPI_Type_commit(types(neighbors))
      end do
    end do
  end subroutine

  ! One step: first the cells that need no halo, while it is on its way.
  subroutine relax(now, next, request)
    double precision, intent(in), asynchronous :: now(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1)
    double precision, intent(inout) :: next(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1)
    type(MPI_Request), intent(inout) :: request
    call MPI_Start(request)
    call relax_cells(now, next, .false.)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call relax_cells(now, next, .true.)
  end subroutine

  subroutine relax_cells(now, next, needs_halo)
    double precision, intent(in) :: now(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1)
    double precision, intent(inout) :: next(0:n(1) + 1, 0:n(2) + 1, 0:n(3) + 1)
    logical, intent(in) :: needs_halo
    integer :: x, y, z
    do z = 1, n(3)
      do y = 1, n(2)
        do x = 1, n(1)
          if ((any([x, y, z] == 1) .or. any([x, y, z] == n)) .neqv. needs_halo) cycle
          next(x, y, z) = (now(x - 1, y, z) + now(x + 1, y, z) + now(x, y - 1, z) + now(x, y + 1, z) &
            + now(x, y, z - 1) + now(x, y, z + 1))/6
        end do
      end do
    end do
  end subroutine
end program
