// The bytes that ranks send, so that each can be checked where it arrives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bench {

/// From where on a thread's places are, so that no thread's data can pass for another's.
[[nodiscard]] inline std::size_t first_place(int thread) { return (static_cast<std::size_t>(thread) << 12) * 4099; }

/// The byte that a rank has at that place: scattered, so that neither a block nor a shifted one can pass for another.
[[nodiscard]] inline std::byte byte_at(int rank, std::size_t place) {
  std::uint64_t word = (static_cast<std::uint64_t>(rank) << 40) + place + 1;
  word *= 0x9e3779b97f4a7c15u;
  return static_cast<std::byte>(word >> 56);
}

}  // namespace bench
