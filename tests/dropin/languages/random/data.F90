! What the blocks of a call are, what lies in its buffers before it, and what has to lie there after it.
#include "../interface.inc"
module data_of_calls
  use mpi_interface
  use draws
  use layouts
  use reductions
  use calls
  use topologies
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none

  ! Data of a rank towards another one, or towards all.
  type :: Block
    integer :: from = MPI_PROC_NULL, number = 0
    integer :: items = 0
  end type

  ! A call with all that is known of it on this rank. All but the arguments is alike on all ranks.
  type, extends(Arguments) :: KnownCall
    integer(int64) :: key = 0
    logical :: takes_part = .true.
    integer :: rank = 0, ranks = 1
    integer :: group = 1       ! block sizes are multiples of so many items
    integer :: regular = 0     ! items in each block, or elements of a reduction
    type(Block), allocatable :: sends(:), receives(:)
    character(len=24) :: communicator = ''
  end type

contains

  pure logical function is_reduction(function)
    integer, intent(in) :: function
    is_reduction = function >= its_reduce .and. function <= its_exscan
  end function

  pure logical function needs_topology(function)
    integer, intent(in) :: function
    needs_topology = function >= its_neighbor_allgather
  end function

  pure logical function has_types_of_blocks(function)
    integer, intent(in) :: function
    has_types_of_blocks = function == its_alltoallw .or. function == its_neighbor_alltoallw
  end function

  pure logical function is_irregular(function)
    integer, intent(in) :: function
    is_irregular = has_types_of_blocks(function) .or. any(function == [its_gatherv, its_scatterv, its_allgatherv, &
                   its_alltoallv, its_reduce_scatter, its_neighbor_allgatherv, its_neighbor_alltoallv])
  end function

  pure logical function has_root(function)
    integer, intent(in) :: function
    has_root = any(function == [its_bcast, its_gather, its_gatherv, its_scatter, its_scatterv, its_reduce])
  end function

  pure logical function may_be_in_place(function)
    integer, intent(in) :: function
    may_be_in_place = .not. (function == its_barrier .or. function == its_bcast .or. needs_topology(function))
  end function

  ! Draws all of a call but its form: what all ranks know, from `parent`, and what each chooses, from `own`.
  subroutine prepare(function, form, parent, neighbors, own, its)
    integer, intent(in) :: function, form
    type(Group), intent(inout) :: parent
    type(Neighborhood), intent(in) :: neighbors
    type(Draw), intent(inout) :: own
    type(KnownCall), intent(out), target :: its
    DATATYPE_TYPE :: base
    integer(int64) :: item_bytes
    logical :: may_be_of_the_program
    its%function = function
    its%form = form
    its%request = MPI_REQUEST_NULL
    its%key = mixed(parent%alike%state, 3_int64)
    its%group = merge(6, 1, parent%alike%coin(2))
    its%regular = size_of_blocks(parent%alike, function, its%group)
    its%in_place = may_be_in_place(function) .and. parent%alike%coin(4)
    its%root = parent%alike%number(0, parent%ranks - 1)
    call draw_base(parent%alike, base, item_bytes)
    if (is_reduction(function)) then
      ! fab carries a non-blocking one once a call that may wait has asked all ranks.
      may_be_of_the_program = form /= non_blocking .or. parent%asked
      call draw_reduction(parent%alike, may_be_of_the_program, its%reduced)
      if (its%reduced%is_of_the_program()) parent%asked = .true.
      its%group = 1
    end if
    its%takes_part = .not. needs_topology(function) .or. neighbors%member
    if (.not. its%takes_part) return
    if (needs_topology(function)) then
      call take_group(neighbors)
    else
      call take_group(parent)
    end if
    if (has_root(function) .and. its%root /= its%rank) its%in_place = .false.
    if (is_reduction(function)) then
      call arrange_reduction(its)
    else
      call list_blocks(neighbors, its)
      call arrange(its%sends, its%send)
      call arrange(its%receives, its%recv)
      if (allocated(its%sends) .and. .not. its%in_place .and. own%coin(6)) call go_to_bottom(its%send, its%from_bottom)
      if (allocated(its%receives) .and. own%coin(6)) call go_to_bottom(its%recv, its%to_bottom)
    end if
    call set_arguments(own, its)

  contains

    subroutine take_group(whose)
      class(Group), intent(in) :: whose
      its%comm = whose%comm
      its%rank = whose%rank
      its%ranks = whose%ranks
      its%communicator = whose%name
    end subroutine

    subroutine arrange(blocks, side_of_it)
      type(Block), allocatable, intent(in) :: blocks(:)
      type(Side), intent(inout) :: side_of_it
      integer :: i
      do i = 1, most_layouts
        call draw_layout(own, base, item_bytes, its%group, side_of_it%layouts(i))
      end do
      if (.not. allocated(blocks)) then
        call pack_blocks(side_of_it, [integer ::])
      else if (has_types_of_blocks(function)) then
        call scatter_typed_blocks(side_of_it, blocks%items, own)
      else if (size(blocks) > 1 .and. is_irregular(function)) then
        call scatter_blocks(side_of_it, blocks%items, own)
      else
        call pack_blocks(side_of_it, blocks%items)
      end if
    end subroutine

    subroutine go_to_bottom(side_of_it, is_there)
      type(Side), intent(inout) :: side_of_it
      logical, intent(out) :: is_there
      integer(MPI_ADDRESS_KIND) :: address
      integer :: i, ierror
      call MPI_Get_address(side_of_it%memory(side_of_it%origin + 1), address, ierror)
      do i = 1, most_layouts
        call move_to(address, side_of_it%layouts(i))
      end do
      is_there = .true.
    end subroutine

  end subroutine

  ! Of none, few, many or very many items.
  integer function size_of_blocks(alike, function, group)
    type(Draw), intent(inout) :: alike
    integer, intent(in) :: function, group
    integer :: drawn
    drawn = alike%number(0, 19)
    size_of_blocks = alike%number(1, 20) * group
    if (drawn < 2) size_of_blocks = 0
    if (drawn < 14) return
    size_of_blocks = alike%number(100, 3000)
    if (drawn == 19 .and. (function == its_bcast .or. is_reduction(function))) size_of_blocks = 10 * size_of_blocks
    size_of_blocks = size_of_blocks / group * group
  end function

  ! Items of a block that both of its ends know.
  integer function items_between(its, one, other)
    type(KnownCall), intent(in) :: its
    integer, intent(in) :: one, other
    integer(int64) :: drawn
    items_between = its%regular
    if (.not. is_irregular(its%function)) return
    drawn = mixed(mixed(its%key + 1, int(one + 1000, int64)), int(other + 1000, int64))
    items_between = its%group * int(mod(drawn, 60_int64))
    if (mod(drawn, 4_int64) == 0) items_between = 0
    if (mod(drawn, 50_int64) == 1) items_between = 6000
  end function

  subroutine list_blocks(neighbors, its)
    type(Neighborhood), intent(in) :: neighbors
    type(KnownCall), intent(inout) :: its
    integer :: i
    select case (its%function)
    case (its_barrier)
    case (its_bcast)
      its%receives = [Block(its%root, 0, items_between(its, its%root, 0))]
    case (its_gather, its_gatherv, its_allgather, its_allgatherv)
      its%sends = [Block(its%rank, 0, items_between(its, its%rank, 0))]
      if (its%rank == its%root .or. .not. has_root(its%function)) &
        its%receives = [(Block(i, 0, items_between(its, i, 0)), i = 0, its%ranks - 1)]
    case (its_scatter, its_scatterv)
      if (its%rank == its%root) &
        its%sends = [(Block(its%root, i, items_between(its, its%root, i)), i = 0, its%ranks - 1)]
      its%receives = [Block(its%root, its%rank, items_between(its, its%root, its%rank))]
    case (its_alltoall, its_alltoallv, its_alltoallw)
      its%sends = [(Block(its%rank, i, items_between(its, its%rank, i)), i = 0, its%ranks - 1)]
      its%receives = [(Block(i, its%rank, items_between(its, i, its%rank)), i = 0, its%ranks - 1)]
      if (its%in_place) then  ! two ranks swap blocks of one size
        its%receives%items = [(items_between(its, min(i, its%rank), max(i, its%rank)), i = 0, its%ranks - 1)]
      end if
    case (its_neighbor_allgather, its_neighbor_allgatherv)
      its%sends = [Block(its%rank, 0, items_between(its, its%rank, 0))]
      its%receives = [(Block(neighbors%source(i), 0, items_between(its, neighbors%source(i), 0)), &
                       i = 1, neighbors%sources)]
    case default
      its%sends = [(Block(its%rank, i, items_between(its, its%rank, i)), i = 1, neighbors%destinations)]
      its%receives = [(Block(neighbors%source(i), neighbors%block_of_source(i), &
                             items_between(its, neighbors%source(i), neighbors%block_of_source(i))), &
                       i = 1, neighbors%sources)]
    end select
  end subroutine

  subroutine arrange_reduction(its)
    type(KnownCall), intent(inout) :: its
    integer :: i, all_of_them, items
    allocate (its%parts(its%ranks))
    all_of_them = its%regular
    if (its%function == its_reduce_scatter) then
      its%parts = [(items_between(its, i, 0), i = 0, its%ranks - 1)]
      all_of_them = sum(its%parts)
    else if (its%function == its_reduce_scatter_block) then
      its%regular = min(its%regular, 3000)
      its%parts = its%regular
      all_of_them = its%regular * its%ranks
    end if
    items = its%reduced%element%items
    its%send%layouts(1) = its%reduced%element
    its%recv%layouts(1) = its%reduced%element
    its%send%layouts(1)%derived = .false.  ! the other side frees it
    call pack_blocks(its%send, [items * all_of_them])
    if (.not. its%in_place .and. is_part(its%function)) all_of_them = its%parts(its%rank + 1)
    call pack_blocks(its%recv, [items * all_of_them])
  end subroutine

  pure logical function is_part(function)
    integer, intent(in) :: function
    is_part = function == its_reduce_scatter .or. function == its_reduce_scatter_block
  end function

  ! Arguments that MPI must not look at are wrong ones now and then.
  subroutine set_arguments(own, its)
    type(Draw), intent(inout) :: own
    type(KnownCall), intent(inout) :: its
    integer :: i
    call set_types(its%send)
    call set_types(its%recv)
    its%send_count = its%send%counts(1)
    its%recv_count = its%recv%counts(1)
    if (is_reduction(its%function)) then
      its%recv_count = its%regular
      return
    end if
    if (.not. allocated(its%sends) .and. own%coin(2)) call spoil(its%send_count, its%send_type)
    if (.not. allocated(its%receives) .and. own%coin(2)) call spoil(its%recv_count, its%recv_type)
    if (.not. its%in_place .or. own%coin(2)) return
    if (its%function == its_scatter .or. its%function == its_scatterv) then
      call spoil(its%recv_count, its%recv_type)
    else
      call spoil(its%send_count, its%send_type)
      its%send%counts = -1
      do i = 1, size(its%send%types)
        its%send%types(i) = MPI_DATATYPE_NULL
      end do
    end if

  contains

    subroutine set_types(side_of_it)
      type(Side), intent(inout) :: side_of_it
      do i = 1, size(side_of_it%types)
        side_of_it%types(i) = MPI_DATATYPE_NULL
        if (i <= side_of_it%blocks) side_of_it%types(i) = side_of_it%layouts(side_of_it%layout_of(i))%handle
      end do
      its%send_type = its%send%layouts(1)%handle
      its%recv_type = its%recv%layouts(1)%handle
    end subroutine

    subroutine spoil(number, datatype)
      integer, intent(out) :: number
      DATATYPE_TYPE, intent(out) :: datatype
      number = -1
      datatype = MPI_DATATYPE_NULL
    end subroutine

  end subroutine

  integer(int64) function key_of_block(its, round, from, number)
    type(KnownCall), intent(in) :: its
    integer, intent(in) :: round, from, number
    key_of_block = mixed(mixed(mixed(its%key, int(round, int64)), int(from, int64)), int(number, int64))
  end function

  ! Writes the data of a round into the buffers, and what then has to arrive beside them.
  subroutine fill(its, round)
    type(KnownCall), intent(inout) :: its
    integer, intent(in) :: round
    call fill_gaps(its%send, key_of_block(its, round, its%rank, 200))
    call fill_gaps(its%recv, key_of_block(its, round, its%rank, 300))
    if (is_reduction(its%function)) then
      call fill_reduction(its, round)
    else
      call fill_blocks(its, round)
    end if
  end subroutine

  subroutine fill_blocks(its, round)
    type(KnownCall), intent(inout) :: its
    integer, intent(in) :: round
    integer :: i
    logical :: from_recv
    from_recv = its%function == its_bcast .and. its%rank == its%root
    if (allocated(its%sends)) then
      do i = 1, size(its%sends)
        if (.not. its%in_place .or. its%function == its_scatter .or. its%function == its_scatterv) &
          call put_block(its%send, i, key_of_block(its, round, its%sends(i)%from, its%sends(i)%number))
      end do
    end if
    if (its%in_place .and. allocated(its%receives)) then
      select case (its%function)
      case (its_gather, its_gatherv, its_allgather, its_allgatherv)
        call put_block(its%recv, its%rank + 1, key_of_block(its, round, its%rank, 0))
      case (its_alltoall, its_alltoallv, its_alltoallw)
        do i = 1, its%ranks
          call put_block(its%recv, i, key_of_block(its, round, its%rank, i - 1))
        end do
      end select
    end if
    if (from_recv) call put_block(its%recv, 1, key_of_block(its, round, its%root, 0))
    its%send%memory(:) = its%send%expected
    its%recv%memory(:) = its%recv%expected
    if (.not. allocated(its%receives)) return
    if (its%in_place .and. (its%function == its_scatter .or. its%function == its_scatterv)) return
    do i = 1, size(its%receives)
      if (its%receives(i)%from == MPI_PROC_NULL) cycle
      call put_block(its%recv, i, key_of_block(its, round, its%receives(i)%from, its%receives(i)%number))
    end do
  end subroutine

  subroutine fill_reduction(its, round)
    type(KnownCall), intent(inout) :: its
    integer, intent(in) :: round
    integer(int64) :: keys(its%ranks)
    integer :: i, first, last, before, n
    keys = [(key_of_block(its, round, i, 0), i = 0, its%ranks - 1)]
    first = 1
    last = its%ranks
    before = 0
    n = its%regular
    if (is_part(its%function)) n = sum(its%parts)
    if (its%in_place) then
      call put_bytes(its%recv, 1, reduced(its%reduced, keys(its%rank + 1:its%rank + 1), 0, n))
    else
      call put_bytes(its%send, 1, reduced(its%reduced, keys(its%rank + 1:its%rank + 1), 0, n))
    end if
    its%send%memory(:) = its%send%expected
    its%recv%memory(:) = its%recv%expected
    if (its%function == its_reduce .and. its%rank /= its%root) return
    if (its%function == its_scan) last = its%rank + 1
    if (its%function == its_exscan) last = its%rank
    if (is_part(its%function)) then
      before = sum(its%parts(1:its%rank))
      n = its%parts(its%rank + 1)
    end if
    if (last > 0) call put_bytes(its%recv, 1, reduced(its%reduced, keys(first:last), before, n))
  end subroutine

end module
