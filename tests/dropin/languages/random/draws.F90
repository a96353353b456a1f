! Numbers that follow from a seed. Ranks that draw from equal seeds draw alike.
module draws
  use, intrinsic :: iso_fortran_env, only: int8, int64
  implicit none

  integer(int64), parameter, private :: modulus = 2147483647_int64

  type :: Draw
    integer(int64) :: state = 1
  contains
    procedure :: number
    procedure :: coin
    procedure :: permutation
  end type

contains

  ! A number in [0, 2**31 - 2] of two such numbers. The order of the two counts.
  pure integer(int64) function mixed(one, other)
    integer(int64), intent(in) :: one, other
    integer(int64) :: next
    next = mod(ieor(one, ishft(other, 3) + 1) * 48271 + other, modulus)
    next = ieor(next, ishft(next, -15))
    next = mod(next * 16807 + 12345, modulus)
    mixed = mod(ieor(next, ishft(next, -13)) * 69621, modulus)
  end function

  ! In [least, most].
  integer function number(self, least, most)
    class(Draw), intent(inout) :: self
    integer, intent(in) :: least, most
    self%state = mixed(self%state, 77_int64)
    number = least + int(mod(ieor(self%state, ishft(self%state, -16)), int(most - least + 1, int64)))
  end function

  ! True once in `of` times.
  logical function coin(self, of)
    class(Draw), intent(inout) :: self
    integer, intent(in) :: of
    coin = self%number(1, of) == 1
  end function

  ! The numbers from 1 to n in any order.
  function permutation(self, n) result(order)
    class(Draw), intent(inout) :: self
    integer, intent(in) :: n
    integer :: order(n), i, other, kept
    order = [(i, i = 1, n)]
    do i = n, 2, -1
      other = self%number(1, i)
      kept = order(i)
      order(i) = order(other)
      order(other) = kept
    end do
  end function

  ! The byte at a position from 0 on in the data that the key stands for.
  pure integer(int8) function data_byte(key, position)
    integer(int64), intent(in) :: key, position
    integer(int64) :: bits
    bits = iand(ishft((key + position) * 2654435761_int64, -13), 255_int64)
    data_byte = int(merge(bits - 256, bits, bits > 127), int8)
  end function

end module
