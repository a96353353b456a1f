// Reductions: what elements are, which operations combine them (MPI-4.1, 6.9), and the kernels that do it.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fab {

/// What an element is, by its representation in memory: C's `int` and Fortran's `integer` are both int32.
/// Types that C++20 has no name for (float16, bfloat16, float128) serve callers that work on bytes.
enum class ElementType : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,   ///< IEEE 754 binary16
  bfloat16,  ///< the upper half of a binary32
  float32,
  float64,
  long_double,  ///< the compiler's
  float128,     ///< IEEE 754 binary128, gfortran's real(16); defined where the compiler has it
  float32_complex,
  float64_complex,
  long_double_complex,
  float128_complex,
  logical8,  ///< C's _Bool, C++'s bool, logical(1): 0 is false, anything else true, results are 0 and 1
  logical16,
  logical32,
  logical64,
  byte,  ///< bits and nothing more
  // A value and where it was found, laid out as Located<value, location>.
  int16_int32,
  int32_int32,
  int64_int32,
  float32_int32,
  float64_int32,
  long_double_int32,
  float32_float32,
  float64_float64,
};

/// How two elements become one. Which operation goes with which type: is_defined.
enum class ReduceOp : std::uint8_t {
  sum,
  product,
  min,
  max,
  logical_and,
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
  min_location,  ///< the least value and where it is; of equal values the least location
  max_location,  ///< the greatest value and where it is; of equal values the least location
  replace,       ///< what comes in takes the place of what is there
  user,          ///< a function that is given when the reduction runs (UserReduction)
};

/// An operation on elements of a type. Small and without pointers: schedules store it.
struct Reduction {
  ReduceOp op = ReduceOp::sum;
  ElementType type = ElementType::byte;

  friend bool operator==(const Reduction&, const Reduction&) = default;
};

/// What ReduceOp::user calls: inout[i] = in[i] op inout[i] for elements of a size that the caller knows. `in` holds the
/// operand of the lower ranks. It must be associative, must not throw, and is called by threads that wait or test.
struct UserReduction {
  using Function = void (*)(void* context, const void* in, void* inout, std::size_t elements);

  Function function = nullptr;
  void* context = nullptr;
};

/// The operand of min_location and max_location.
template <class Value, class Location = int>
struct Located {
  Value value;
  Location location;

  friend bool operator==(const Located&, const Located&) = default;
};

/// Bytes from one element to the next, padding included; 0 for a value that no enumerator has.
[[nodiscard]] std::size_t element_bytes(ElementType type) noexcept;

/// Whether reduce_elements() can do it (MPI-4.1, 6.9.2 and 6.9.4):
///   sum, product            integers, floating point, complex
///   min, max                integers, floating point
///   logical_and, _or, _xor  integers, logical
///   bit_and, _or, _xor      integers, byte
///   min_location, max_...   the pairs of a value and a location
///   replace                 everything
/// False for ReduceOp::user and for values that no enumerator has.
[[nodiscard]] bool is_defined(Reduction reduction) noexcept;

[[nodiscard]] std::string_view to_string(ElementType type) noexcept;
[[nodiscard]] std::string_view to_string(ReduceOp op) noexcept;
[[nodiscard]] std::string to_string(Reduction reduction);  ///< "sum of float64"

/// inout[i] = in[i] op inout[i] for `count` elements; `in` holds the operand of the lower ranks. The reduction must be
/// defined; the two arrays must not overlap, and need no alignment. An element's result depends on its two operands
/// alone, bit for bit (but for which NaN a NaN is), whatever the processor, the length and the position.
///
/// Integers wrap around. Logical operations yield 0 or 1. min and max are IEEE 754-2019's minimum and maximum: a NaN
/// wins, and -0 is less than +0, so that operands may change places; min_location and max_location find a NaN in the
/// same way. A product of complex numbers is (ac - bd) + (ad + bc)i. Results of float16 and bfloat16 are those of
/// float32, rounded to nearest, ties to even. The bytes of padding of a pair are never looked at.
void reduce_elements(Reduction reduction, const void* in, void* inout, std::size_t count) noexcept;

namespace detail {

constexpr ElementType integer_type(std::size_t bytes, bool is_signed) noexcept {
  switch (bytes) {
    case 1:
      return is_signed ? ElementType::int8 : ElementType::uint8;
    case 2:
      return is_signed ? ElementType::int16 : ElementType::uint16;
    case 4:
      return is_signed ? ElementType::int32 : ElementType::uint32;
    default:
      return is_signed ? ElementType::int64 : ElementType::uint64;
  }
}

/// Integers to compute with; as in MPI, characters are none.
template <class T>
concept Integer = std::same_as<T, signed char> || std::same_as<T, unsigned char> || std::same_as<T, short> ||
    std::same_as<T, unsigned short> || std::same_as<T, int> || std::same_as<T, unsigned> || std::same_as<T, long> ||
    std::same_as<T, unsigned long> || std::same_as<T, long long> || std::same_as<T, unsigned long long>;

template <ElementType kType>
struct Is {
  static constexpr ElementType kValue = kType;
};

template <class T>
struct ElementTypeOf {};
template <Integer T>
struct ElementTypeOf<T> : Is<integer_type(sizeof(T), T(-1) < T(0))> {};
template <>
struct ElementTypeOf<float> : Is<ElementType::float32> {};
template <>
struct ElementTypeOf<double> : Is<ElementType::float64> {};
template <>
struct ElementTypeOf<long double> : Is<ElementType::long_double> {};
template <>
struct ElementTypeOf<std::complex<float>> : Is<ElementType::float32_complex> {};
template <>
struct ElementTypeOf<std::complex<double>> : Is<ElementType::float64_complex> {};
template <>
struct ElementTypeOf<std::complex<long double>> : Is<ElementType::long_double_complex> {};
template <>
struct ElementTypeOf<bool> : Is<ElementType::logical8> {};
template <>
struct ElementTypeOf<std::byte> : Is<ElementType::byte> {};
template <>
struct ElementTypeOf<Located<short>> : Is<ElementType::int16_int32> {};
template <>
struct ElementTypeOf<Located<int>> : Is<ElementType::int32_int32> {};
template <>
struct ElementTypeOf<Located<long>>
    : Is<sizeof(long) == sizeof(int) ? ElementType::int32_int32 : ElementType::int64_int32> {};
template <>
struct ElementTypeOf<Located<float>> : Is<ElementType::float32_int32> {};
template <>
struct ElementTypeOf<Located<double>> : Is<ElementType::float64_int32> {};
template <>
struct ElementTypeOf<Located<long double>> : Is<ElementType::long_double_int32> {};
template <>
struct ElementTypeOf<Located<float, float>> : Is<ElementType::float32_float32> {};
template <>
struct ElementTypeOf<Located<double, double>> : Is<ElementType::float64_float64> {};

static_assert(sizeof(int) == 4, "locations are int and int32");

}  // namespace detail

/// C++ types whose arrays reduce_elements() takes.
template <class T>
concept Reducible = requires {
  detail::ElementTypeOf<T>::kValue;
};

template <Reducible T>
constexpr ElementType element_type_of() noexcept {
  return detail::ElementTypeOf<T>::kValue;
}

}  // namespace fab
