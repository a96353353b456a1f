// Elements as numbers that the oracle of reductions computes with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "fab/reduction.h"

namespace fab::test {

#if defined(__SIZEOF_FLOAT128__)
using Float128 = __float128;
#else
using Float128 = long double;
#endif

/// A 16-bit format by its exponent bits, taken apart by arithmetic alone.
template <int kExponentBits>
struct Half {
  std::uint16_t bits;

  static constexpr int kFractionBits = 15 - kExponentBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;

  static double value(unsigned bits) {
    static const std::vector<double> values = [] {
      std::vector<double> all;
      for (unsigned i = 0; i < 1u << 16; ++i) all.push_back(taken_apart(i));
      return all;
    }();
    return values[bits];
  }

  static double taken_apart(unsigned bits) {
    const int exponent = static_cast<int>(bits >> kFractionBits) & ((1 << kExponentBits) - 1);
    const double fraction = std::ldexp(bits & ((1u << kFractionBits) - 1), -kFractionBits);
    double magnitude = std::ldexp(exponent == 0 ? fraction : 1 + fraction, std::max(exponent, 1) - kBias);
    if (exponent == (1 << kExponentBits) - 1) magnitude = fraction == 0 ? INFINITY : NAN;
    return std::copysign(magnitude, bits >> 15 != 0 ? -1.0 : 1.0);
  }

  /// The nearest number, by search; the even one of two. Bits of positive numbers are in the order of the numbers.
  static Half nearest(double exact) {
    if (std::isnan(exact)) return {0x7fff};
    const unsigned sign = std::signbit(exact) ? 0x8000 : 0;
    const double magnitude = std::fabs(exact);
    const unsigned infinity = ((1u << kExponentBits) - 1) << kFractionBits;
    unsigned low = 0;
    unsigned high = infinity;
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      (value(middle) <= magnitude ? low : high) = middle;
    }
    // Infinity stands where the next finite number would.
    const double above = high == infinity ? std::ldexp(1.0, kBias + 1) : value(high);
    const double middle = (value(low) + above) / 2;
    const bool up = magnitude > middle || (magnitude == middle && high % 2 == 0);
    return {static_cast<std::uint16_t>(sign | (up ? high : low))};
  }
};
using Binary16 = Half<5>;
using Brain16 = Half<8>;

template <class T>
struct Number {
  T re;
  T im;
};

struct Raw {
  std::uint8_t bits;
};

template <class T>
struct Truth {
  T bits;
};

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, Float128>;

/// Calls `visit` with a null pointer to the type in which this file computes.
template <class Visit>
auto with_type(ElementType type, Visit&& visit) {
  switch (type) {
    case ElementType::int8:
      return visit(static_cast<std::int8_t*>(nullptr));
    case ElementType::int16:
      return visit(static_cast<std::int16_t*>(nullptr));
    case ElementType::int32:
      return visit(static_cast<std::int32_t*>(nullptr));
    case ElementType::int64:
      return visit(static_cast<std::int64_t*>(nullptr));
    case ElementType::uint8:
      return visit(static_cast<std::uint8_t*>(nullptr));
    case ElementType::uint16:
      return visit(static_cast<std::uint16_t*>(nullptr));
    case ElementType::uint32:
      return visit(static_cast<std::uint32_t*>(nullptr));
    case ElementType::uint64:
      return visit(static_cast<std::uint64_t*>(nullptr));
    case ElementType::float16:
      return visit(static_cast<Binary16*>(nullptr));
    case ElementType::bfloat16:
      return visit(static_cast<Brain16*>(nullptr));
    case ElementType::float32:
      return visit(static_cast<float*>(nullptr));
    case ElementType::float64:
      return visit(static_cast<double*>(nullptr));
    case ElementType::long_double:
      return visit(static_cast<long double*>(nullptr));
    case ElementType::float128:
      return visit(static_cast<Float128*>(nullptr));
    case ElementType::float32_complex:
      return visit(static_cast<Number<float>*>(nullptr));
    case ElementType::float64_complex:
      return visit(static_cast<Number<double>*>(nullptr));
    case ElementType::long_double_complex:
      return visit(static_cast<Number<long double>*>(nullptr));
    case ElementType::float128_complex:
      return visit(static_cast<Number<Float128>*>(nullptr));
    case ElementType::logical8:
      return visit(static_cast<Truth<std::uint8_t>*>(nullptr));
    case ElementType::logical16:
      return visit(static_cast<Truth<std::uint16_t>*>(nullptr));
    case ElementType::logical32:
      return visit(static_cast<Truth<std::uint32_t>*>(nullptr));
    case ElementType::logical64:
      return visit(static_cast<Truth<std::uint64_t>*>(nullptr));
    case ElementType::int16_int32:
      return visit(static_cast<Located<std::int16_t>*>(nullptr));
    case ElementType::int32_int32:
      return visit(static_cast<Located<std::int32_t>*>(nullptr));
    case ElementType::int64_int32:
      return visit(static_cast<Located<std::int64_t>*>(nullptr));
    case ElementType::float32_int32:
      return visit(static_cast<Located<float>*>(nullptr));
    case ElementType::float64_int32:
      return visit(static_cast<Located<double>*>(nullptr));
    case ElementType::long_double_int32:
      return visit(static_cast<Located<long double>*>(nullptr));
    case ElementType::float32_float32:
      return visit(static_cast<Located<float, float>*>(nullptr));
    case ElementType::float64_float64:
      return visit(static_cast<Located<double, double>*>(nullptr));
    case ElementType::byte:
      break;
  }
  return visit(static_cast<Raw*>(nullptr));
}

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
bool is_nan(T value) {
  if constexpr (kIsFloat<T>)
    return __builtin_isnan(value);
  else
    return false;
}

}  // namespace fab::test
