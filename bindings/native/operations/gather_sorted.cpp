// gather_sorted: hands the call to the collective in collectives/teaching.
#include "fab/gather_sorted.h"

#include "bindings/native/base/access.h"
#include "collectives/teaching/gather_sorted.h"

namespace fab {

void gather_sorted(const Communicator& communicator, std::int64_t key, std::span<const std::byte> message, Rank root,
                   const std::function<void(const SortedPart&)>& consume, std::size_t packet_bytes) {
  collectives::gather_sorted(Access::core(communicator),
                             {.root = root, .key = key, .message = message, .packet_bytes = packet_bytes},
                             [&](const collectives::PacketHead& head, const std::byte* part) {
                               consume({.source = head.source,
                                        .key = head.key,
                                        .message_bytes = static_cast<std::size_t>(head.bytes),
                                        .offset = static_cast<std::size_t>(head.offset),
                                        .bytes = {part, head.size}});
                             });
}

}  // namespace fab
