// Pseudo-random decisions that are the same in every run: a failure can be repeated.
#pragma once

#include <cstdint>

namespace strict {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) noexcept : state_(seed * 2 + 1) {}
  /// 0 to below `bound`, which is not 0.
  std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }
  bool one_in(unsigned n) noexcept { return n != 0 && below(n) == 0; }
  std::uint64_t next() noexcept {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    const std::uint64_t mixed = (state_ ^ (state_ >> 32)) * 0x9e3779b97f4a7c15ull;
    return mixed ^ (mixed >> 29);
  }

 private:
  std::uint64_t state_;
};

}  // namespace strict
