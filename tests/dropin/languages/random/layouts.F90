! Random datatypes, the blocks of them that a call sends or receives, and the memory in which these lie.
#include "../interface.inc"
module layouts
  use mpi_interface
  use draws
  use, intrinsic :: iso_fortran_env, only: int8, int64
  implicit none

  integer, parameter :: most_items = 6     ! in an element
  integer, parameter :: most_layouts = 3   ! in the blocks of one call
  ! Open MPI 4.1 looks at as many types as there are ranks, also of fewer blocks.
  integer, parameter, private :: most_blocks_read = 8
  integer, parameter, private :: guard = 64  ! bytes on either side of all blocks

  ! A committed datatype. An element has `items` of a base of MPI's, each of `item_bytes`.
  type :: Layout
    DATATYPE_TYPE :: handle
    logical :: derived = .false.
    integer :: items = 1
    integer(int64) :: item_bytes = 1
    integer(int64) :: at(most_items) = 0  ! bytes from the place of an element to each item
    integer(int64) :: low = 0             ! the lower bound, in bytes
    integer(int64) :: extent = 1          ! bytes
  end type

  ! The blocks of a call on one side of it. Counts and places are in elements, `bytes` are places in bytes.
  type :: Side
    integer :: blocks = 0
    integer, allocatable :: counts(:), places(:), int_bytes(:), layout_of(:)
    integer(MPI_ADDRESS_KIND), allocatable :: bytes(:)
    DATATYPE_TYPE, allocatable :: types(:)
    type(Layout) :: layouts(most_layouts)
    integer(int8), allocatable :: memory(:), expected(:)
    integer(int64) :: origin = 0  ! bytes of the memory before the address that the call is given
  end type

contains

  ! Bases of MPI's: all that a Fortran program may have in its variables.
  subroutine draw_base(alike, base, item_bytes)
    type(Draw), intent(inout) :: alike
    DATATYPE_TYPE, intent(out) :: base
    integer(int64), intent(out) :: item_bytes
    select case (alike%number(0, 11))
    case (0, 1)
      base = MPI_INTEGER
      item_bytes = 4
    case (2, 3)
      base = MPI_DOUBLE_PRECISION
      item_bytes = 8
    case (4)
      base = MPI_DOUBLE_COMPLEX
      item_bytes = 16
    case (5)
      base = MPI_INTEGER1
      item_bytes = 1
    case (6)
      base = MPI_CHARACTER
      item_bytes = 1
    case (7)
      base = MPI_REAL
      item_bytes = 4
    case (8)
      base = MPI_COMPLEX
      item_bytes = 8
    case (9)
      base = MPI_LOGICAL
      item_bytes = 4
    case (10)
      base = MPI_INTEGER2
      item_bytes = 2
    case default
      base = MPI_INTEGER8
      item_bytes = 8
    end select
  end subroutine

  subroutine make_predefined(base, item_bytes, made)
    DATATYPE_TYPE, intent(in) :: base
    integer(int64), intent(in) :: item_bytes
    type(Layout), intent(out) :: made
    made%handle = base
    made%item_bytes = item_bytes
    made%extent = item_bytes
  end subroutine

  ! Elements of 1, 2, 3 or 6 items; `group` is 1, or 6 for all of these.
  subroutine draw_layout(own, base, item_bytes, group, made)
    type(Draw), intent(inout) :: own
    DATATYPE_TYPE, intent(in) :: base
    integer(int64), intent(in) :: item_bytes
    integer, intent(in) :: group
    type(Layout), intent(out) :: made
    integer, parameter :: choices(4) = [1, 2, 3, 6]
    integer :: items
    items = merge(choices(own%number(1, 4)), 1, group == 6)
    call make_predefined(base, item_bytes, made)
    if (items == 1 .and. own%coin(2)) return
    call make_derived(base, item_bytes, items, own%number(1, 8), own, made)
  end subroutine

  subroutine make_derived(base, item_bytes, items, kind_of_it, own, made)
    DATATYPE_TYPE, intent(in) :: base
    integer(int64), intent(in) :: item_bytes
    integer, intent(in) :: items, kind_of_it
    type(Draw), intent(inout) :: own
    type(Layout), intent(out) :: made
    DATATYPE_TYPE :: inner, bases(most_items)
    integer(MPI_ADDRESS_KIND) :: low, extent, at(most_items)
    integer :: ones(most_items), places(most_items), i, ierror
    call make_predefined(base, item_bytes, made)
    ones = 1
    bases = base
    made%derived = .true.
    made%items = items
    select case (kind_of_it)
    case (1)
      call MPI_Type_contiguous(items, base, made%handle, ierror)
      at = [((i - 1) * item_bytes, i = 1, most_items)]
      made%extent = items * item_bytes
    case (2)
      call MPI_Type_vector(items, 1, 2, base, made%handle, ierror)
      at = [(2 * (i - 1) * item_bytes, i = 1, most_items)]
      made%extent = (2 * items - 1) * item_bytes
    case (3)  ! a gap at the end
      call MPI_Type_contiguous(items, base, inner, ierror)
      low = 0
      extent = (items + 2) * item_bytes
      call MPI_Type_create_resized(inner, low, extent, made%handle, ierror)
      call MPI_Type_free(inner, ierror)
      at = [((i - 1) * item_bytes, i = 1, most_items)]
      made%extent = extent
    case (4)  ! a gap before the place of the element
      call MPI_Type_contiguous(items, base, inner, ierror)
      low = -item_bytes
      extent = (items + 1) * item_bytes
      call MPI_Type_create_resized(inner, low, extent, made%handle, ierror)
      call MPI_Type_free(inner, ierror)
      at = [((i - 1) * item_bytes, i = 1, most_items)]
      made%low = low
      made%extent = extent
    case (5)  ! from the last to the first
      at = [((items - i) * item_bytes, i = 1, most_items)]
      call MPI_Type_create_hindexed(items, ones, at, base, made%handle, ierror)
      made%extent = items * item_bytes
    case (6)
      places = [(2 * i - 1, i = 1, most_items)]
      call MPI_Type_create_indexed_block(items, 1, places, base, inner, ierror)
      low = 0
      extent = (2 * items + 1) * item_bytes
      call MPI_Type_create_resized(inner, low, extent, made%handle, ierror)
      call MPI_Type_free(inner, ierror)
      at = [((2 * i - 1) * item_bytes, i = 1, most_items)]
      made%extent = extent
    case (7)  ! the second row of an array of two
      call MPI_Type_create_subarray(2, [2, items], [1, items], [1, 0], MPI_ORDER_FORTRAN, base, made%handle, ierror)
      at = [((2 * i - 1) * item_bytes, i = 1, most_items)]
      made%extent = 2 * items * item_bytes
    case default
      at(1) = 0
      do i = 2, most_items
        at(i) = at(i - 1) + item_bytes * own%number(1, 3)
      end do
      call MPI_Type_create_struct(items, ones, at, bases, made%handle, ierror)
      made%extent = at(items) + item_bytes
    end select
    made%at = at
    call MPI_Type_commit(made%handle, ierror)
  end subroutine

  ! The elements of the type then lie at an address, seen from MPI_BOTTOM.
  subroutine move_to(address, made)
    integer(MPI_ADDRESS_KIND), intent(in) :: address
    type(Layout), intent(inout) :: made
    DATATYPE_TYPE :: moved
    integer :: ierror
    call MPI_Type_create_hindexed(1, [1], [address], made%handle, moved, ierror)
    call MPI_Type_commit(moved, ierror)
    if (made%derived) call MPI_Type_free(made%handle, ierror)
    made%handle = moved
    made%derived = .true.
  end subroutine

  subroutine free_types(its)
    type(Side), intent(inout) :: its
    integer :: i, ierror
    do i = 1, most_layouts
      if (its%layouts(i)%derived) call MPI_Type_free(its%layouts(i)%handle, ierror)
      its%layouts(i)%derived = .false.
    end do
  end subroutine

  ! Blocks of so many items one behind the other. The layouts are there already; all blocks have the first.
  subroutine pack_blocks(its, items)
    type(Side), intent(inout) :: its
    integer, intent(in) :: items(:)
    integer :: i
    call allocate_blocks(its, items)
    do i = 2, its%blocks
      its%places(i) = its%places(i - 1) + its%counts(i - 1)
    end do
    call finish_blocks(its)
  end subroutine

  ! Blocks in any order and with gaps.
  subroutine scatter_blocks(its, items, own)
    type(Side), intent(inout) :: its
    integer, intent(in) :: items(:)
    type(Draw), intent(inout) :: own
    integer :: order(size(items)), i, next
    call allocate_blocks(its, items)
    order = own%permutation(its%blocks)
    next = own%number(0, 2)
    do i = 1, its%blocks
      its%places(order(i)) = next
      next = next + its%counts(order(i)) + own%number(0, 2)
    end do
    call finish_blocks(its)
  end subroutine

  ! Blocks with types of their own, whose places are in bytes.
  subroutine scatter_typed_blocks(its, items, own)
    type(Side), intent(inout) :: its
    integer, intent(in) :: items(:)
    type(Draw), intent(inout) :: own
    integer :: order(size(items)), i, block
    integer(int64) :: next
    call allocate_blocks(its, items)
    do i = 1, its%blocks
      its%layout_of(i) = own%number(1, most_layouts)
      its%counts(i) = items(i) / its%layouts(its%layout_of(i))%items
    end do
    order = own%permutation(its%blocks)
    next = own%number(0, 2) * its%layouts(1)%item_bytes
    do i = 1, its%blocks
      block = order(i)
      associate (made => its%layouts(its%layout_of(block)))
        its%bytes(block) = next - made%low
        next = next + its%counts(block) * made%extent + own%number(0, 2) * made%item_bytes
      end associate
    end do
    call allocate_memory(its)
  end subroutine

  subroutine allocate_blocks(its, items)
    type(Side), intent(inout) :: its
    integer, intent(in) :: items(:)
    integer :: n
    its%blocks = size(items)
    n = max(1, its%blocks)
    allocate (its%counts(n), its%places(n), its%int_bytes(n), its%layout_of(n), its%bytes(n))
    allocate (its%types(max(n, most_blocks_read)))
    its%counts = 0
    its%places = 0
    its%bytes = 0
    its%layout_of = 1
    its%counts(1:its%blocks) = items / its%layouts(1)%items
  end subroutine

  subroutine finish_blocks(its)
    type(Side), intent(inout) :: its
    its%bytes = its%places * its%layouts(1)%extent
    call allocate_memory(its)
  end subroutine

  subroutine allocate_memory(its)
    type(Side), intent(inout) :: its
    integer(int64) :: first, last
    integer :: i
    first = 0
    last = 0
    do i = 1, its%blocks
      associate (made => its%layouts(its%layout_of(i)))
        first = min(first, its%bytes(i) + made%low)
        last = max(last, its%bytes(i) + made%low + its%counts(i) * made%extent)
      end associate
    end do
    its%int_bytes = int(its%bytes)
    its%origin = 2 * guard - first / guard * guard
    allocate (its%memory(its%origin + last + guard), its%expected(its%origin + last + guard))
  end subroutine

  ! Bytes from the start of the memory to an item of a block, both from 1 on.
  pure integer(int64) function offset_of(its, block, item)
    type(Side), intent(in) :: its
    integer, intent(in) :: block, item
    associate (made => its%layouts(its%layout_of(block)))
      offset_of = its%origin + its%bytes(block) + (item - 1) / made%items * made%extent + &
                  made%at(mod(item - 1, made%items) + 1)
    end associate
  end function

  pure integer function items_of(its, block)
    type(Side), intent(in) :: its
    integer, intent(in) :: block
    items_of = its%counts(block) * its%layouts(its%layout_of(block))%items
  end function

  ! What lies in the memory before any block is written.
  subroutine fill_gaps(its, key)
    type(Side), intent(inout) :: its
    integer(int64), intent(in) :: key
    integer(int64) :: i
    do i = 1, size(its%expected, kind=int64)
      its%expected(i) = data_byte(key, i)
    end do
  end subroutine

  ! These bytes are expected as the first of the block's data.
  subroutine put_bytes(its, block, bytes)
    type(Side), intent(inout) :: its
    integer, intent(in) :: block
    integer(int8), intent(in) :: bytes(:)
    integer(int64) :: offset, width, taken
    integer :: item
    width = its%layouts(its%layout_of(block))%item_bytes
    taken = 0
    do item = 1, int(size(bytes) / width)
      offset = offset_of(its, block, item)
      its%expected(offset + 1:offset + width) = bytes(taken + 1:taken + width)
      taken = taken + width
    end do
  end subroutine

  subroutine put_block(its, block, key)
    type(Side), intent(inout) :: its
    integer, intent(in) :: block
    integer(int64), intent(in) :: key
    integer(int8), allocatable :: bytes(:)
    integer(int64) :: i
    allocate (bytes(items_of(its, block) * its%layouts(its%layout_of(block))%item_bytes))
    do i = 1, size(bytes, kind=int64)
      bytes(i) = data_byte(key, i)
    end do
    call put_bytes(its, block, bytes)
  end subroutine

  ! The block and the item that an offset in bytes, from 1 on, belongs to; zeros of a gap.
  subroutine find_item(its, offset, block, item)
    type(Side), intent(in) :: its
    integer(int64), intent(in) :: offset
    integer, intent(out) :: block, item
    integer(int64) :: before
    do block = 1, its%blocks
      do item = 1, items_of(its, block)
        before = offset - offset_of(its, block, item)
        if (before > 0 .and. before <= its%layouts(its%layout_of(block))%item_bytes) return
      end do
    end do
    block = 0
    item = 0
  end subroutine

end module
