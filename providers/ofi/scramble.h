// Keyed functions of numbers: one that can be inverted, and one that cannot be computed without its key.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace fab::ofi {

using SecretKey = std::array<std::uint64_t, 2>;

/// SipHash-2-4 (Aumasson and Bernstein, 2012) of eight bytes, those of `word` from the lowest on.
[[nodiscard]] constexpr std::uint64_t siphash(const SecretKey& key, std::uint64_t word) noexcept {
  std::array<std::uint64_t, 4> v{key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull,
                                 key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull};
  const auto rounds = [&v](int count) {
    for (int i = 0; i < count; ++i) {
      v[0] += v[1];
      v[2] += v[3];
      v[1] = std::rotl(v[1], 13) ^ v[0];
      v[3] = std::rotl(v[3], 16) ^ v[2];
      v[0] = std::rotl(v[0], 32) + v[3];
      v[2] += v[1];
      v[1] = std::rotl(v[1], 17) ^ v[2];
      v[3] = std::rotl(v[3], 21) ^ v[0];
      v[2] = std::rotl(v[2], 32);
    }
  };
  constexpr std::uint64_t kLength = std::uint64_t{sizeof(word)} << 56;
  for (const std::uint64_t block : {word, kLength}) {
    v[3] ^= block;
    rounds(2);
    v[0] ^= block;
  }
  v[2] ^= 0xff;
  rounds(4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/// A permutation of the numbers of an even count of bits, chosen by a key: a Feistel network of four rounds, which mix
/// with multiplications by secret numbers. It hides where a number goes from who has not seen it go there; what has
/// been seen may tell more than a cipher would.
class Permutation {
 public:
  /// Precondition: 2 <= bits <= 64, even.
  Permutation(const SecretKey& key, unsigned bits) noexcept : half_bits_(bits / 2), half_mask_((1ull << bits / 2) - 1) {
    for (std::uint64_t i = 0; i < rounds_.size(); ++i) rounds_[i] = {siphash(key, 2 * i), siphash(key, 2 * i + 1) | 1};
  }

  [[nodiscard]] std::uint64_t of(std::uint64_t number) const noexcept {
    std::uint64_t low = number & half_mask_;
    std::uint64_t high = number >> half_bits_;
    for (std::size_t i = 0; i < rounds_.size(); i += 2) {
      high ^= mix(rounds_[i], low);
      low ^= mix(rounds_[i + 1], high);
    }
    return high << half_bits_ | low;
  }
  [[nodiscard]] std::uint64_t inverse(std::uint64_t number) const noexcept {
    std::uint64_t low = number & half_mask_;
    std::uint64_t high = number >> half_bits_;
    for (std::size_t i = rounds_.size(); i > 0; i -= 2) {
      low ^= mix(rounds_[i - 1], high);
      high ^= mix(rounds_[i - 2], low);
    }
    return high << half_bits_ | low;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  struct Round {
    std::uint64_t added = 0;
    std::uint64_t factor = 0;
  };

  [[nodiscard]] std::uint64_t mix(const Round& round, std::uint64_t half) const noexcept {
    const Wide product = static_cast<Wide>(half + round.added) * round.factor;
    const auto mixed = static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
    return (mixed ^ mixed >> 32) & half_mask_;
  }

  std::array<Round, 4> rounds_{};
  unsigned half_bits_;
  std::uint64_t half_mask_;
};

}  // namespace fab::ofi
