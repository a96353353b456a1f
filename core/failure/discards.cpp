#include "core/failure/discards.h"

#include <algorithm>
#include <array>

namespace fab::core {

Discards::Discard::Discard(Discards& its_owner, const Peer& its_peer, std::uint64_t its_tag, std::uint64_t its_bytes,
                           bool is_first_part)
    : Post(
          [](Completion& self, std::uint64_t arrived_bytes, std::uint64_t arrived_tag) noexcept {
            engine_lock.assert_held();
            auto& discard = static_cast<Discard&>(self);
            discard.owner.arrived(discard, arrived_bytes, arrived_tag);
          },
          [](Completion& self, const Status&) noexcept {
            engine_lock.assert_held();
            auto& discard = static_cast<Discard&>(self);
            discard.owner.forget(discard);
          },
          [](Post& self) {
            engine_lock.assert_held();
            auto& discard = static_cast<Discard&>(self);
            return discard.owner.post(discard);
          }),
      owner(its_owner),
      peer(its_peer),
      tag(its_tag),
      bytes(its_bytes),
      first_part(is_first_part),
      memory(new std::byte[its_bytes]) {}

void Discards::message(const Peer& peer, std::uint64_t tag) { start(peer, tag, kHeadBytes, true); }

void Discards::later_parts(const Peer& peer, std::uint64_t tag, std::span<const MessagePart> coming,
                           std::span<const MessagePart> expected) {
  const std::uint64_t first_part_tag = tag & ~tags_.framed();
  for (const MessagePart& part : coming.subspan(1))
    if (std::ranges::find(expected, part) == expected.end()) start(peer, first_part_tag | part.mark, part.bytes, false);
}

void Discards::start(const Peer& peer, std::uint64_t tag, std::uint64_t bytes, bool first_part) {
  post(discards_.emplace_back(*this, peer, tag, bytes, first_part));
}

bool Discards::post(Discard& discard) {
  const std::array<iovec, 1> memory{{{discard.memory.get(), discard.bytes}}};
  const PostResult result = discard.peer.post_recv(memory, discard.tag, tags_, discard);
  if (result != PostResult::again) return true;
  engine_.retry_later(discard);
  return false;
}

void Discards::arrived(Discard& discard, std::uint64_t bytes, std::uint64_t tag) {
  if (discard.first_part && (tag & tags_.framed()) != 0 && bytes >= FrameHead::kBytes) {
    const FrameHead head = read_frame_head(discard.memory.get());
    if (discard.peer.in_parts()) later_parts(discard.peer, discard.tag, parts_of(head.message_bytes, tags_), {});
  }
  forget(discard);
}

void Discards::forget(const Discard& discard) {
  discards_.remove_if([&discard](const Discard& other) { return &other == &discard; });
}

}  // namespace fab::core
