// The hash by which calls, shapes and lists are told apart. It is the same on all ranks, and no secret: what must
// withstand an attacker has a key (providers/ofi/receiver_key.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace fab::core {

/// The hash of a list of values, one more each time. The product with 2^64 over the golden ratio has in its high bits
/// something of all bits of the value (Knuth, The Art of Computer Programming, vol. 3, section 6.4), and they change
/// the low ones.
[[nodiscard]] constexpr std::uint64_t hash_with(std::uint64_t hash, std::uint64_t value) noexcept {
  const std::uint64_t product = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return product ^ (product >> 29);
}

[[nodiscard]] constexpr std::uint64_t hash_of(std::uint64_t value) noexcept { return hash_with(0, value); }

[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = text.size();
  for (const char character : text) hash = hash_with(hash, static_cast<unsigned char>(character));
  return hash;
}

}  // namespace fab::core
