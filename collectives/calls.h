// The calls that have plans, as the first word of a plan's key.
#pragma once

#include <cstdint>

namespace fab::collectives {

enum class Call : std::uint64_t {
  neighbor_xchg = 1,
  neighbor_xchg_in_place,
  cart_shift_xchg,
  cart_shift_xchg_in_place,
  bcast
};

}  // namespace fab::collectives
