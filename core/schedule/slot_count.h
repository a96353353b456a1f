// The number of slots, which tell messages between the same two ranks apart.
#pragma once

#include <cstdint>

namespace fab {

/// Between two ranks, each way. Tags have room for as many (core/wire/match_tag.h).
inline constexpr std::uint32_t kSlotCount = 256;

}  // namespace fab
