! Random communicators, and topologies whose neighbours are known without asking the library.
#include "../interface.inc"
module topologies
  use mpi_interface
  use draws
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none

  integer, parameter :: most_ranks = 8
  integer, parameter :: most_neighbors = 8 * most_ranks

  type :: Group
    COMM_TYPE :: comm
    integer :: rank = 0, ranks = 1
    type(Draw) :: alike          ! the same on all ranks
    character(len=24) :: name = ''
    logical :: asked = .false.   ! whether a blocking or persistent reduction has had an operation of the program
  end type

  ! Blocks from `sources` arrive, blocks to `destinations` leave; MPI_PROC_NULL stands for no neighbour. What arrives
  ! from source i is the block of that number, from 1 on, of its destinations.
  type, extends(Group) :: Neighborhood
    logical :: member = .false.
    ! Whether no rank has more neighbours on a side than there are ranks. With more of them Open MPI 4.1's Fortran
    ! interfaces of MPI_Neighbor_alltoallw convert too few of the types.
    logical :: may_have_types = .true.
    integer :: sources = 0, destinations = 0
    integer :: source(most_neighbors), block_of_source(most_neighbors), destination(most_neighbors)
  end type

contains

  ! Of the processes of the world; each of them is in one.
  subroutine make_group(seed, made)
    integer, intent(in) :: seed
    type(Group), intent(out) :: made
    type(Draw) :: alike
    integer :: rank, ranks, color, key, ierror
    alike%state = mixed(int(seed, int64), 5_int64)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    color = 0
    select case (alike%number(0, 5))
    case (0)
      call MPI_Comm_dup(MPI_COMM_WORLD, made%comm, ierror)
      made%name = 'the duplicate'
    case (1, 2)
      call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, made%comm, ierror)
      made%name = 'the opposite order'
    case (3)
      color = mod(rank, 2)
      call MPI_Comm_split(MPI_COMM_WORLD, color, rank, made%comm, ierror)
      made%name = 'a half'
    case (4)
      color = int(mod(mixed(alike%state, int(rank, int64)), 3_int64))
      key = int(mod(mixed(alike%state, int(rank + 100, int64)), 1000_int64))
      call MPI_Comm_split(MPI_COMM_WORLD, color, key, made%comm, ierror)
      made%name = 'a part'
    case default
      made%comm = MPI_COMM_WORLD
      made%name = 'the world'
    end select
    call complete_group(mixed(int(seed, int64), int(color + 1000, int64)), made)
  end subroutine

  subroutine complete_group(state, made)
    integer(int64), intent(in) :: state
    class(Group), intent(inout) :: made
    integer :: ierror
    made%alike%state = state
    call MPI_Comm_rank(made%comm, made%rank, ierror)
    call MPI_Comm_size(made%comm, made%ranks, ierror)
  end subroutine

  subroutine make_neighborhood(parent, made)
    type(Group), intent(inout) :: parent
    type(Neighborhood), intent(out) :: made
    integer(int64) :: state
    integer :: kind_of_it
    kind_of_it = parent%alike%number(0, 7)
    state = mixed(parent%alike%state, 9_int64)
    select case (kind_of_it)
    case (0:3)
      call make_grid(parent, state, made)
    case (4)
      call make_graph(parent, state, made)
    case (5, 6)
      call make_adjacent(parent, state, made)
    case default
      call make_distributed_graph(parent, state, made)
    end select
  end subroutine

  ! Perhaps of some of the ranks only, perhaps of others in the order of MPI's choice.
  subroutine make_grid(parent, state, made)
    type(Group), intent(inout) :: parent
    integer(int64), intent(in) :: state
    type(Neighborhood), intent(inout) :: made
    integer :: dims(3), n, i, nodes, direction, here(3), there(3), neighbor, ierror
    logical :: periods(3)
    n = parent%alike%number(1, 3)
    nodes = parent%ranks
    if (parent%alike%coin(4)) nodes = parent%alike%number(1, parent%ranks)
    dims = 0
    call MPI_Dims_create(nodes, n, dims, ierror)
    dims(1:n) = dims(parent%alike%permutation(n))
    do i = 1, 3
      periods(i) = parent%alike%coin(2)
    end do
    call MPI_Cart_create(parent%comm, n, dims, periods, parent%alike%coin(3), made%comm, ierror)
    made%may_have_types = 2 * n <= nodes
    write (made%name, '(a,i0,a)') 'a grid of ', n, ' dimensions'
    if (made%comm == MPI_COMM_NULL) return
    made%member = .true.
    call complete_group(state, made)
    i = made%rank
    do direction = n, 1, -1
      here(direction) = mod(i, dims(direction))
      i = i / dims(direction)
    end do
    made%sources = 2 * n
    made%destinations = 2 * n
    do i = 1, 2 * n
      direction = (i + 1) / 2
      there(1:n) = here(1:n)
      there(direction) = here(direction) + merge(-1, 1, mod(i, 2) == 1)
      neighbor = MPI_PROC_NULL
      if (periods(direction)) there(direction) = modulo(there(direction), dims(direction))
      if (there(direction) >= 0 .and. there(direction) < dims(direction)) neighbor = place_in(there(1:n), dims(1:n))
      made%source(i) = neighbor
      made%destination(i) = neighbor
      made%block_of_source(i) = merge(i + 1, i - 1, mod(i, 2) == 1)  ! the one towards this rank
    end do
  end subroutine

  ! The last dimension varies first.
  integer function place_in(there, dims)
    integer, intent(in) :: there(:), dims(:)
    integer :: i
    place_in = 0
    do i = 1, size(dims)
      place_in = place_in * dims(i) + there(i)
    end do
  end function

  ! Each pair of ranks has an edge or none, in both directions.
  subroutine make_graph(parent, state, made)
    type(Group), intent(inout) :: parent
    integer(int64), intent(in) :: state
    type(Neighborhood), intent(inout) :: made
    integer :: index(most_ranks), edges(most_ranks * most_ranks), rank, other, n, degree, j, ierror
    n = 0
    do rank = 0, parent%ranks - 1
      do other = 0, parent%ranks - 1
        if (.not. has_edge(rank, other)) cycle
        n = n + 1
        edges(n) = other
      end do
      index(rank + 1) = n
    end do
    call MPI_Graph_create(parent%comm, parent%ranks, index, edges, .false., made%comm, ierror)
    made%name = 'a graph'
    made%member = .true.
    call complete_group(state, made)
    degree = 0
    do other = 0, parent%ranks - 1
      if (.not. has_edge(made%rank, other)) cycle
      degree = degree + 1
      made%source(degree) = other
      made%destination(degree) = other
      made%block_of_source(degree) = count([(has_edge(other, j), j = 0, made%rank)])
    end do
    made%sources = degree
    made%destinations = degree

  contains

    logical function has_edge(one, two)
      integer, intent(in) :: one, two
      has_edge = mod(mixed(mixed(state, int(min(one, two), int64)), int(max(one, two), int64)), 5_int64) < 3
    end function

  end subroutine

  ! From 0 to 6 edges from each rank, in any order, to itself, too, and some of them several times.
  subroutine make_adjacent(parent, state, made)
    type(Group), intent(inout) :: parent
    integer(int64), intent(in) :: state
    type(Neighborhood), intent(inout) :: made
    integer :: degree(0:most_ranks - 1), in_degree(0:most_ranks - 1), destination(6, 0:most_ranks - 1)
    integer :: weights(most_neighbors), sources(most_neighbors), rank, i, j, n, same, ierror
    type(Draw) :: alike, order
    alike%state = state
    in_degree = 0
    do rank = 0, parent%ranks - 1
      degree(rank) = alike%number(0, 6)
      do i = 1, degree(rank)
        destination(i, rank) = alike%number(0, parent%ranks - 1)
        in_degree(destination(i, rank)) = in_degree(destination(i, rank)) + 1
      end do
    end do
    n = 0
    do rank = 0, parent%ranks - 1
      do i = 1, degree(rank)
        if (destination(i, rank) /= parent%rank) cycle
        n = n + 1
        sources(n) = rank
      end do
    end do
    order%state = mixed(state, int(parent%rank, int64))
    sources(1:n) = sources(order%permutation(n))
    weights = 3
    if (alike%coin(2)) then
      call MPI_Dist_graph_create_adjacent(parent%comm, n, sources, weights, degree(parent%rank), &
                                          destination(:, parent%rank), weights, MPI_INFO_NULL, .false., &
                                          made%comm, ierror)
    else
      call MPI_Dist_graph_create_adjacent(parent%comm, n, sources, MPI_UNWEIGHTED, degree(parent%rank), &
                                          destination(:, parent%rank), MPI_UNWEIGHTED, MPI_INFO_NULL, .false., &
                                          made%comm, ierror)
    end if
    made%name = 'lists of neighbours'
    made%may_have_types = maxval(degree(0:parent%ranks - 1)) <= parent%ranks .and. maxval(in_degree) <= parent%ranks
    made%member = .true.
    call complete_group(state, made)
    made%sources = n
    made%source(1:n) = sources(1:n)
    made%destinations = degree(made%rank)
    made%destination(1:degree(made%rank)) = destination(1:degree(made%rank), made%rank)
    do i = 1, n  ! of several edges between two ranks, the first is the first on both
      same = count(sources(1:i) == sources(i))
      do j = 1, degree(sources(i))
        if (destination(j, sources(i)) == made%rank) same = same - 1
        if (same == 0) exit
      end do
      made%block_of_source(i) = j
    end do
  end subroutine

  ! Each rank names edges of any ranks, and none comes twice. MPI orders the neighbours, so ranks tell each other. Where
  ! Open MPI 4.1 may reorder the ranks, it makes graphs whose two ends of an edge differ.
  subroutine make_distributed_graph(parent, state, made)
    type(Group), intent(inout) :: parent
    integer(int64), intent(in) :: state
    type(Neighborhood), intent(inout) :: made
    integer :: sources(most_neighbors), degrees(most_neighbors), destinations(most_neighbors)
    integer :: weights(most_neighbors), other_weights(most_neighbors), mine(most_neighbors), theirs(most_neighbors)
    integer :: from, to, n, i, j, distance, ierror
    logical :: weighted
    n = 0
    do from = 0, parent%ranks - 1
      do to = 0, parent%ranks - 1
        if (mod(mixed(state, int(100 * from + to, int64)), 2_int64) == 0) cycle
        if (mod(mixed(state, int(10000 + 100 * from + to, int64)), int(parent%ranks, int64)) /= parent%rank) cycle
        n = n + 1
        sources(n) = from
        destinations(n) = to
      end do
    end do
    degrees = 1
    weights = 1
    call MPI_Dist_graph_create(parent%comm, n, sources, degrees, destinations, weights, MPI_INFO_NULL, .false., &
                               made%comm, ierror)
    made%name = 'a distributed graph'
    made%member = .true.
    call complete_group(state, made)
    call MPI_Dist_graph_neighbors_count(made%comm, made%sources, made%destinations, weighted, ierror)
    call MPI_Dist_graph_neighbors(made%comm, made%sources, made%source, weights, made%destinations, made%destination, &
                                  other_weights, ierror)
    mine = -1
    mine(1:made%destinations) = made%destination(1:made%destinations)
    do distance = 0, made%ranks - 1
      from = modulo(made%rank - distance, made%ranks)
      to = modulo(made%rank + distance, made%ranks)
      call MPI_Sendrecv(mine, most_neighbors, MPI_INTEGER, to, 1, theirs, most_neighbors, MPI_INTEGER, from, 1, &
                        made%comm, MPI_STATUS_IGNORE, ierror)
      do i = 1, made%sources
        if (made%source(i) /= from) cycle
        do j = 1, most_neighbors
          if (theirs(j) == made%rank) made%block_of_source(i) = j
        end do
      end do
    end do
  end subroutine

end module
