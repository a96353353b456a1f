// The kinds of calls that have plans. The kind is the first word of a plan's key.
#pragma once

#include <cstdint>

#include "core/base/collective.h"

namespace fab::collectives {

enum class Call : std::uint64_t {
  neighbor_xchg = 1,
  neighbor_xchg_in_place,
  cart_shift_xchg,
  cart_shift_xchg_in_place,
  neighbor_collective,
  discover,
  first_collective
};

[[nodiscard]] constexpr std::uint64_t key_of(Collective collective) noexcept {
  return static_cast<std::uint64_t>(Call::first_collective) + static_cast<std::uint64_t>(collective);
}

}  // namespace fab::collectives
