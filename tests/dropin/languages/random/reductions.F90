! Random reductions: their elements, which are exact in any order, and what plain arithmetic makes of them.
#include "../interface.inc"
module reductions
  use mpi_interface
  use draws
  use layouts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none

  integer, parameter :: sum_of = 1, product_of = 2, largest = 3, smallest = 4, all_bits = 5, any_bits = 6, &
    odd_bits = 7, all_true = 8, any_true = 9, odd_true = 10, place_of_largest = 11, place_of_smallest = 12, &
    composition = 13, sum_of_pairs = 14
  character(len=24), parameter :: names_of_operations(14) = [character(len=24) :: 'sum', 'prod', 'max', 'min', 'band', &
    'bor', 'bxor', 'land', 'lor', 'lxor', 'maxloc', 'minloc', 'the program''s, in order', 'the program''s, any order']
  integer, parameter, private :: integer_4 = 1, integer_8 = 2, integer_2 = 3, integer_1 = 4, real_4 = 5, real_8 = 6, &
    complex_8 = 7, complex_16 = 8, logicals = 9, pairs_of_integers = 10, pairs_of_reals = 11, pairs_of_doubles = 12, &
    bytes_only = 13, of_the_program = 14
  character(len=24), parameter :: names_of_kinds(14) = [character(len=24) :: 'integer', 'integer*8', 'integer*2', &
    'integer*1', 'real', 'double precision', 'complex', 'double complex', 'logical', '2integer', '2real', &
    '2double_precision', 'byte', 'the program''s']
  integer(int64), parameter, private :: remainders = 97

  type :: Reduction
    integer :: kind_of_element = integer_4, operation = sum_of
    OP_TYPE :: op
    type(Layout) :: element
  contains
    procedure :: is_of_the_program
  end type

  ! All elements are such pairs: an imaginary part, an index, or the second number of the program's.
  type :: Pair
    integer(int64) :: x = 0, y = 0
  end type

contains

  logical function is_of_the_program(self)
    class(Reduction), intent(in) :: self
    is_of_the_program = self%kind_of_element == of_the_program
  end function

  subroutine draw_reduction(alike, may_be_of_the_program, made)
    type(Draw), intent(inout) :: alike
    logical, intent(in) :: may_be_of_the_program
    type(Reduction), intent(out) :: made
    integer, parameter :: kinds_of_types(4) = [1, 2, 3, 6]
    integer :: ierror
    made%kind_of_element = alike%number(1, merge(16, 13, may_be_of_the_program))
    made%kind_of_element = min(made%kind_of_element, of_the_program)
    select case (made%kind_of_element)
    case (integer_4)
      call draw_names(MPI_INTEGER, MPI_INTEGER4, 4)
      made%operation = alike%number(sum_of, odd_bits)
    case (integer_8)
      call draw_names(MPI_INTEGER8, MPI_INTEGER8, 8)
      made%operation = alike%number(sum_of, odd_bits)
    case (integer_2)
      call draw_names(MPI_INTEGER2, MPI_INTEGER2, 2)
      made%operation = alike%number(sum_of, odd_bits)
    case (integer_1)
      call draw_names(MPI_INTEGER1, MPI_INTEGER1, 1)
      made%operation = alike%number(sum_of, odd_bits)
    case (real_4)
      call draw_names(MPI_REAL, MPI_REAL4, 4)
      made%operation = alike%number(sum_of, smallest)
    case (real_8)
      call draw_names(MPI_DOUBLE_PRECISION, MPI_REAL8, 8)
      made%operation = alike%number(sum_of, smallest)
    case (complex_8)
      call draw_names(MPI_COMPLEX, MPI_COMPLEX8, 8)
      made%operation = alike%number(sum_of, product_of)
    case (complex_16)
      call draw_names(MPI_DOUBLE_COMPLEX, MPI_COMPLEX16, 16)
      made%operation = alike%number(sum_of, product_of)
    case (logicals)
      call draw_names(MPI_LOGICAL, MPI_LOGICAL, 4)
      made%operation = alike%number(all_true, odd_true)
    case (pairs_of_integers)
      call draw_names(MPI_2INTEGER, MPI_2INTEGER, 8)
      made%operation = alike%number(place_of_largest, place_of_smallest)
    case (pairs_of_reals)
      call draw_names(MPI_2REAL, MPI_2REAL, 8)
      made%operation = alike%number(place_of_largest, place_of_smallest)
    case (pairs_of_doubles)
      call draw_names(MPI_2DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION, 16)
      made%operation = alike%number(place_of_largest, place_of_smallest)
    case (bytes_only)
      call draw_names(MPI_BYTE, MPI_BYTE, 1)
      made%operation = alike%number(all_bits, odd_bits)
    case default
      if (alike%coin(4)) then
        call draw_names(MPI_2INTEGER, MPI_2INTEGER, 8)
      else
        call make_derived(MPI_INTEGER, 4_int64, 2, kinds_of_types(alike%number(1, 4)), alike, made%element)
      end if
      made%operation = alike%number(composition, sum_of_pairs)
    end select
    select case (made%operation)
    case (sum_of)
      made%op = MPI_SUM
    case (product_of)
      made%op = MPI_PROD
    case (largest)
      made%op = MPI_MAX
    case (smallest)
      made%op = MPI_MIN
    case (all_bits)
      made%op = MPI_BAND
    case (any_bits)
      made%op = MPI_BOR
    case (odd_bits)
      made%op = MPI_BXOR
    case (all_true)
      made%op = MPI_LAND
    case (any_true)
      made%op = MPI_LOR
    case (odd_true)
      made%op = MPI_LXOR
    case (place_of_largest)
      made%op = MPI_MAXLOC
    case (place_of_smallest)
      made%op = MPI_MINLOC
    case (composition)
      call MPI_Op_create(compose, .false., made%op, ierror)
    case (sum_of_pairs)
      call MPI_Op_create(add_pairs, .true., made%op, ierror)
    end select

  contains

    subroutine draw_names(one, other, item_bytes)
      DATATYPE_TYPE, intent(in) :: one, other
      integer, intent(in) :: item_bytes
      if (alike%coin(3)) then
        call make_predefined(other, int(item_bytes, int64), made%element)
      else
        call make_predefined(one, int(item_bytes, int64), made%element)
      end if
    end subroutine

  end subroutine

  ! Element i of the rank that the key belongs to.
  type(Pair) function element_of(its, key, i)
    type(Reduction), intent(in) :: its
    integer(int64), intent(in) :: key
    integer, intent(in) :: i
    integer(int64) :: drawn
    drawn = mixed(key, int(i, int64))
    select case (its%operation)
    case (product_of)
      element_of%x = merge(2, merge(1, -1, mod(drawn, 3_int64) == 0), mod(drawn, 16_int64) == 0)
      if (element_of%x == 2 .and. its%kind_of_element == integer_1) element_of%x = -1  ! eight 2's are too large
      if (its%kind_of_element == complex_8 .or. its%kind_of_element == complex_16) then
        element_of%x = merge(1, -1, mod(drawn, 3_int64) == 0)  ! whose products have no zeros, which may have a sign
        element_of%y = 2 * element_of%x
      end if
    case (all_true, any_true, odd_true)
      element_of%x = mod(drawn, 2_int64)
    case (place_of_largest, place_of_smallest)
      element_of%x = mod(drawn, 3_int64)
      element_of%y = mod(drawn, 1000_int64)
    case (composition, sum_of_pairs)
      element_of%x = mod(drawn, remainders)
      element_of%y = mod(drawn / remainders, remainders)
    case default
      element_of%x = mod(drawn, 31_int64) - 15
      element_of%y = mod(drawn / 31, 31_int64) - 15
    end select
  end function

  type(Pair) function combined(operation, one, other) result(both)
    integer, intent(in) :: operation
    type(Pair), intent(in) :: one, other
    both = other
    select case (operation)
    case (sum_of)
      both = Pair(one%x + other%x, one%y + other%y)
    case (product_of)
      both = Pair(one%x * other%x - one%y * other%y, one%x * other%y + one%y * other%x)
    case (largest)
      both%x = max(one%x, other%x)
    case (smallest)
      both%x = min(one%x, other%x)
    case (all_bits, all_true)
      both%x = iand(one%x, other%x)
    case (any_bits, any_true)
      both%x = ior(one%x, other%x)
    case (odd_bits, odd_true)
      both%x = ieor(one%x, other%x)
    case (place_of_largest)
      if (one%x > other%x) both = one
      if (one%x == other%x) both%y = min(one%y, other%y)
    case (place_of_smallest)
      if (one%x < other%x) both = one
      if (one%x == other%x) both%y = min(one%y, other%y)
    case (composition)
      both = Pair(mod(one%x * other%x, remainders), mod(one%x * other%y + one%y, remainders))
    case (sum_of_pairs)
      both = Pair(mod(one%x + other%x, remainders), mod(one%y + other%y, remainders))
    end select
  end function

  ! The bytes of elements first + 1, ..., first + n, combined from the ranks that the keys belong to, in their order.
  function reduced(its, keys, first, n) result(bytes)
    type(Reduction), intent(in) :: its
    integer(int64), intent(in) :: keys(:)
    integer, intent(in) :: first, n
    integer(int8), allocatable :: bytes(:)
    type(Pair) :: element
    integer :: i, k, width
    width = int(its%element%item_bytes) * its%element%items
    allocate (bytes(n * width))
    do i = 1, n
      element = element_of(its, keys(1), first + i)
      do k = 2, size(keys)
        element = combined(its%operation, element, element_of(its, keys(k), first + i))
      end do
      bytes((i - 1) * width + 1:i * width) = as_bytes(its%kind_of_element, element)
    end do
  end function

  function as_bytes(kind_of_element, element) result(bytes)
    integer, intent(in) :: kind_of_element
    type(Pair), intent(in) :: element
    integer(int8), allocatable :: bytes(:)
    integer(int8), parameter :: mold(1) = 0_int8
    select case (kind_of_element)
    case (integer_4)
      bytes = transfer(int(element%x, int32), mold)
    case (integer_8)
      bytes = transfer(element%x, mold)
    case (integer_2)
      bytes = transfer(int(element%x, int16), mold)
    case (integer_1, bytes_only)
      bytes = transfer(int(element%x, int8), mold)
    case (real_4)
      bytes = transfer(real(element%x, real32), mold)
    case (real_8)
      bytes = transfer(real(element%x, real64), mold)
    case (complex_8)
      bytes = transfer(cmplx(element%x, element%y, real32), mold)
    case (complex_16)
      bytes = transfer(cmplx(element%x, element%y, real64), mold)
    case (logicals)
      bytes = transfer(element%x == 1, mold)
    case (pairs_of_reals)
      bytes = transfer(real([element%x, element%y], real32), mold)
    case (pairs_of_doubles)
      bytes = transfer(real([element%x, element%y], real64), mold)
    case default
      bytes = transfer(int([element%x, element%y], int32), mold)
    end select
  end function

  ! The two numbers of an element lie at these places of a type of such an extent: see draw_reduction.
  subroutine places_in(datatype, step, x, y)
    DATATYPE_TYPE, intent(in) :: datatype
    integer, intent(out) :: step, x, y
    integer(MPI_ADDRESS_KIND) :: low, extent
    integer :: ierror
    call MPI_Type_get_extent(datatype, low, extent, ierror)
    step = int(extent) / 4
    x = merge(2, 1, step == 5)
    y = merge(4, merge(3, 2, step == 3), step == 5)
  end subroutine

  subroutine combine_all(operation, in, inout, length, step, x, y)
    integer, intent(in) :: operation, length, step, x, y
    integer, intent(in) :: in(*)
    integer, intent(inout) :: inout(*)
    type(Pair) :: both
    integer :: i
    do i = 0, (length - 1) * step, step
      both = combined(operation, Pair(in(i + x), in(i + y)), Pair(inout(i + x), inout(i + y)))
      inout(i + x) = int(both%x)
      inout(i + y) = int(both%y)
    end do
  end subroutine

#if defined(WITH_MPI_F08)
  subroutine compose(invec, inoutvec, length, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: length
    type(MPI_Datatype) :: datatype
    call combine_at(composition, invec, inoutvec, length, datatype)
  end subroutine

  subroutine add_pairs(invec, inoutvec, length, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: length
    type(MPI_Datatype) :: datatype
    call combine_at(sum_of_pairs, invec, inoutvec, length, datatype)
  end subroutine

  subroutine combine_at(operation, invec, inoutvec, length, datatype)
    integer, intent(in) :: operation, length
    type(c_ptr), intent(in) :: invec, inoutvec
    type(MPI_Datatype), intent(in) :: datatype
    integer, pointer, contiguous :: in(:), inout(:)
    integer :: step, x, y
    call places_in(datatype, step, x, y)
    call c_f_pointer(invec, in, [length * step])
    call c_f_pointer(inoutvec, inout, [length * step])
    call combine_all(operation, in, inout, length, step, x, y)
  end subroutine
#else
  subroutine compose(in, inout, length, datatype)
    integer :: length, datatype
    integer :: in(*), inout(*), step, x, y
    call places_in(datatype, step, x, y)
    call combine_all(composition, in, inout, length, step, x, y)
  end subroutine

  subroutine add_pairs(in, inout, length, datatype)
    integer :: length, datatype
    integer :: in(*), inout(*), step, x, y
    call places_in(datatype, step, x, y)
    call combine_all(sum_of_pairs, in, inout, length, step, x, y)
  end subroutine
#endif

end module
