// What tests fill buffers with.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fab::test {

/// Where nothing may be written.
inline constexpr std::byte kUntouched{0xee};

/// Mixes the bits of a number: neighbouring ones give bytes that have nothing in common.
constexpr std::uint64_t hash(std::uint64_t value) {
  value = (value ^ (value >> 31)) * 0x7fb5d329728ea185ull;
  value = (value ^ (value >> 27)) * 0x81dadef4bc2dd44dull;
  return value ^ (value >> 33);
}

}  // namespace fab::test
