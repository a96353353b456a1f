// The types of C++ that reductions compute with, and their ElementType.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>

#include "fab/reduction.h"

namespace fab {

namespace detail {

/// The type of integers of `bytes` bytes: 1, 2, 4 or 8.
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

/// Integers to compute with. As in MPI, character types are not among them.
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

/// C++ types whose arrays reduce_elements() accepts.
template <class T>
concept Reducible = requires {
  detail::ElementTypeOf<T>::kValue;
};

/// The ElementType by which reductions compute with a T.
template <Reducible T>
constexpr ElementType element_type_of() noexcept {
  return detail::ElementTypeOf<T>::kValue;
}

}  // namespace fab
