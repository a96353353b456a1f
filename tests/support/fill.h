// Fills buffers with test data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fab::test {

/// Where nothing may be written.
inline constexpr std::byte kUntouched{0xee};

[[nodiscard]] inline bool are_untouched(std::span<const std::byte> memory) {
  return std::ranges::all_of(memory, [](std::byte each) { return each == kUntouched; });
}

/// Equal contents; unoptimised, too, this compares words.
[[nodiscard]] inline bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// Mixes the bits of a number: neighbouring ones give bytes that have nothing in common.
constexpr std::uint64_t hash(std::uint64_t value) {
  value = (value ^ (value >> 31)) * 0x7fb5d329728ea185ull;
  value = (value ^ (value >> 27)) * 0x81dadef4bc2dd44dull;
  return value ^ (value >> 33);
}

/// The same for the same seed. Memory of another length has the same bytes as far as it goes.
inline void fill_by_chance(std::span<std::byte> memory, std::uint64_t seed) {
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < memory.size(); at += sizeof(word)) {
    word = hash(seed + at * 977);
    std::memcpy(memory.data() + at, &word, std::min(sizeof(word), memory.size() - at));
  }
}

}  // namespace fab::test
