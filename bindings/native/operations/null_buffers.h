// Refuses null pointers where a call has bytes.
#pragma once

#include <cstdint>

#include "collectives/calls/call.h"
#include "fab/operation.h"

namespace fab::native {

/// What a rank's send buffer holds. None where the call does not look at that buffer.
[[nodiscard]] collectives::BlockList sent(const collectives::CollectiveCall& call, Rank rank) noexcept;
/// What its receive buffer holds, in place what the rank contributes as well.
[[nodiscard]] collectives::BlockList received(const collectives::CollectiveCall& call, Rank rank) noexcept;

inline collectives::BlockList list_of(const collectives::BlockList& blocks) noexcept { return blocks; }
inline collectives::BlockList list_of(const collectives::BlockView& block) noexcept {
  return collectives::BlockList::views({&block, 1});
}
/// Of a call in which each rank uses both buffers, or in place the receive buffer alone.
template <class Call>
[[nodiscard]] collectives::BlockList sent(const Call& call, Rank /*rank*/) noexcept {
  return call.in_place ? collectives::BlockList() : list_of(call.send);
}
template <class Call>
[[nodiscard]] collectives::BlockList received(const Call& call, Rank /*rank*/) noexcept {
  return list_of(call.recv);
}

enum class Side : std::uint8_t { send, recv };

/// That buffer's address is null. Throws Error(invalid_argument) if one of its blocks has bytes there. Blocks elsewhere
/// are legal: their offsets may be addresses.
void check_null(const detail::CallBuffers& call, Side side, const collectives::BlockList& blocks);

}  // namespace fab::native
