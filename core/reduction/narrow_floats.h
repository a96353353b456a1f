// The 16-bit floating-point formats, computed with as float32. float32 has more than twice their digits, so the one
// rounding that is left gives the same as computing in the format itself. Included as operations.h is.
#pragma once

#include <cstdint>

#include "core/reduction/operations.h"

namespace fab {
namespace {

inline constexpr std::uint32_t kFloat32Sign = 0x8000'0000;
inline constexpr std::uint32_t kFloat32Infinity = 0x7f80'0000;

/// IEEE 754 binary16: 5 bits of exponent, 10 of fraction.
struct Float16 {
  std::uint16_t bits;

  static float widen(Float16 narrow) noexcept {
    const std::uint32_t magnitude = narrow.bits & 0x7fffu;
    // The fields moved into place make a number that is too small by the difference of the biases, 127 - 15.
    const auto scaled = bits_as<std::uint32_t>(bits_as<float>(magnitude << 13) * 0x1p112f);
    const std::uint32_t special = magnitude >= 0x7c00 ? kFloat32Infinity : 0;
    return bits_as<float>(scaled | special | (narrow.bits & 0x8000u) << 16);
  }

  static Float16 round(float wide) noexcept {
    const auto bits = bits_as<std::uint32_t>(wide);
    const std::uint32_t magnitude = bits & ~kFloat32Sign;
    const std::uint32_t odd = (magnitude >> 13) & 1;
    const std::uint32_t normal = (magnitude - (std::uint32_t{127 - 15} << 23) + 0xfff + odd) >> 13;
    // The last bit of 0.5f is worth as much as the last bit of a subnormal, so the addition rounds.
    const std::uint32_t subnormal = bits_as<std::uint32_t>(bits_as<float>(magnitude) + 0.5f) - 0x3f00'0000;
    std::uint32_t narrow = magnitude < 0x3880'0000 ? subnormal : normal;
    narrow = magnitude >= 0x477f'f000 ? 0x7c00 : narrow;  // 65520 and more round to infinity
    narrow = magnitude > kFloat32Infinity ? 0x7e00 : narrow;
    return {static_cast<std::uint16_t>(narrow | (bits & kFloat32Sign) >> 16)};
  }
};

/// The upper half of a float32: 8 bits of exponent, 7 of fraction.
struct BFloat16 {
  std::uint16_t bits;

  static float widen(BFloat16 narrow) noexcept { return bits_as<float>(std::uint32_t{narrow.bits} << 16); }

  static BFloat16 round(float wide) noexcept {
    const auto bits = bits_as<std::uint32_t>(wide);
    const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const std::uint32_t nan = bits >> 16 | 0x40;
    const bool is_nan = (bits & ~kFloat32Sign) > kFloat32Infinity;
    return {static_cast<std::uint16_t>(is_nan ? nan : rounded)};
  }
};

/// Operation `Op` on numbers of a narrow format.
template <class Op>
struct Widened {
  template <class Narrow>
  static Narrow apply(Narrow in, Narrow here) noexcept {
    return Narrow::round(Op::apply(Narrow::widen(in), Narrow::widen(here)));
  }
};

}  // namespace
}  // namespace fab
