// Reductions: types of elements, operations that combine them (MPI-4.1, 6.9), and the kernels that compute the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fab/api.h"

namespace fab {

/// The type of an element, by its representation in memory: C's `int` and Fortran's `integer` are both int32. Types
/// without a name in C++20 (float16, bfloat16, float128) serve callers that work on bytes. A number in a name is a
/// width in bits: of the whole element, of each half of a complex number, or of a value and of its location.
enum class ElementType : std::uint8_t {
  int8,                 ///< std::int8_t
  int16,                ///< std::int16_t
  int32,                ///< std::int32_t
  int64,                ///< std::int64_t
  uint8,                ///< std::uint8_t
  uint16,               ///< std::uint16_t
  uint32,               ///< std::uint32_t
  uint64,               ///< std::uint64_t
  float16,              ///< IEEE 754 binary16
  bfloat16,             ///< the upper half of a binary32
  float32,              ///< float: IEEE 754 binary32
  float64,              ///< double: IEEE 754 binary64
  long_double,          ///< the compiler's long double
  float128,             ///< IEEE 754 binary128, gfortran's real(16); defined where the compiler has it
  float32_complex,      ///< a complex number: two float32, the real part first
  float64_complex,      ///< two float64
  long_double_complex,  ///< two long_double
  float128_complex,     ///< two float128
  logical8,             ///< C's _Bool, C++'s bool, logical(1): 0 is false, anything else true, results are 0 and 1
  logical16,            ///< as logical8, in 2 bytes: logical(2)
  logical32,            ///< in 4 bytes: logical(4)
  logical64,            ///< in 8 bytes: logical(8)
  byte,                 ///< bits without a meaning
  // A value and its location, laid out as Located<value, location>.
  int16_int32,        ///< MPI_SHORT_INT
  int32_int32,        ///< MPI_2INT
  int64_int32,        ///< MPI_LONG_INT, if long has 64 bits
  float32_int32,      ///< MPI_FLOAT_INT
  float64_int32,      ///< MPI_DOUBLE_INT
  long_double_int32,  ///< MPI_LONG_DOUBLE_INT
  float32_float32,    ///< Fortran's MPI_2REAL
  float64_float64,    ///< Fortran's MPI_2DOUBLE_PRECISION
};

/// How two elements are combined. is_defined tells which operation is defined on which type.
enum class ReduceOp : std::uint8_t {
  sum,           ///< integers wrap around
  product,       ///< integers wrap around
  min,           ///< the minimum of IEEE 754-2019 for floating point: a NaN if an operand is one
  max,           ///< the maximum of IEEE 754-2019 for floating point: a NaN if an operand is one
  logical_and,   ///< 1 if both elements are true, that is not 0; otherwise 0
  logical_or,    ///< 1 if at least one element is true; otherwise 0
  logical_xor,   ///< 1 if one element is true and the other is not; otherwise 0
  bit_and,       ///< bit by bit
  bit_or,        ///< bit by bit
  bit_xor,       ///< bit by bit
  min_location,  ///< the least value and its location; of equal values the least location
  max_location,  ///< the greatest value and its location; of equal values the least location
  replace,       ///< the incoming element replaces the present one; of all ranks that of the lowest remains
  user,          ///< a function that the caller gives when the reduction runs (UserReduction)
};

/// An operation on elements of one type. It is small and holds no pointers: schedules store it.
struct Reduction {
  ReduceOp op = ReduceOp::sum;           ///< how two elements are combined
  ElementType type = ElementType::byte;  ///< of both operands and of the result

  friend bool operator==(const Reduction&, const Reduction&) = default;  ///< the same operation on the same type
};

/// The function of ReduceOp::user: inout[i] = in[i] op inout[i]. The caller knows the size of an element; `in` is from
/// the lower ranks. The function must be associative and must not throw. Threads that wait or test call it.
struct UserReduction {
  /// `in` and `inout` have `elements` elements each, which do not overlap.
  using Function = void (*)(void* context, const void* in, void* inout, std::size_t elements);

  Function function = nullptr;  ///< null: none; Operator::of refuses that
  void* context = nullptr;      ///< what the function gets as its first argument; may be null
};

/// The element type of min_location and max_location: a value and its location.
template <class Value, class Location = int>
struct Located {
  Value value;        ///< what is compared
  Location location;  ///< goes with the value; of equal values the least location wins

  friend bool operator==(const Located&, const Located&) = default;  ///< the same value at the same location
};

/// Bytes from one element to the next, padding included; 0 for a value without an enumerator.
[[nodiscard]] FAB_API std::size_t element_bytes(ElementType type) noexcept;

/// Whether reduce_elements() supports the operation on the type (MPI-4.1, 6.9.2 and 6.9.4):
///   sum, product            integers, floating point, complex
///   min, max                integers, floating point
///   logical_and, _or, _xor  integers, logical
///   bit_and, _or, _xor      integers, byte
///   min_location, max_...   pairs of a value and a location
///   replace                 all types
/// False for ReduceOp::user and for values without an enumerator.
[[nodiscard]] FAB_API bool is_defined(Reduction reduction) noexcept;

/// Whether the order of the operands does not matter, for an operation of fab's own.
[[nodiscard]] constexpr bool commutes(ReduceOp op) noexcept { return op != ReduceOp::replace; }

/// The enumerator as text: "float64"; "no element type" for a value without an enumerator.
[[nodiscard]] FAB_API std::string_view to_string(ElementType type) noexcept;
/// The enumerator as text: "sum"; "no operation" for a value without an enumerator.
[[nodiscard]] FAB_API std::string_view to_string(ReduceOp op) noexcept;
[[nodiscard]] FAB_API std::string to_string(Reduction reduction);  ///< "sum of float64"

/// inout[i] = in[i] op inout[i] for `count` elements; `in` holds the operand of the lower ranks. Precondition:
/// is_defined(reduction). The arrays must not overlap, and need no alignment. The result of an element depends on its
/// two operands only, bit for bit (except which NaN a NaN is): not on the processor, the length or the position.
///
/// Integers wrap around. Logical operations yield 0 or 1. min and max are minimum and maximum of IEEE 754-2019: if an
/// operand is a NaN, so is the result, and -0 is less than +0, so min and max commute; min_location and max_location
/// treat NaNs in the same way. A product of complex numbers is (ac - bd) + (ad + bc)i. Results of float16 and bfloat16
/// are computed in float32 and rounded to nearest, ties to even. The padding bytes of a pair are never read.
FAB_API void reduce_elements(Reduction reduction, const void* in, void* inout, std::size_t count) noexcept;

}  // namespace fab
