#include "providers/sim/port.h"

#include <algorithm>
#include <bit>

#include "providers/local/pieces.h"

namespace fab::sim {

namespace {

bool meet(const Receive& receive, const Message& message, bool directed) noexcept {
  const bool source = !directed || receive.from == message.from || receive.from == kAnyRank;
  return source && ((receive.tag ^ message.tag) & ~receive.ignore) == 0;
}

}  // namespace

// Tags that name a sender are compared in most of their bits.
bool Receive::takes_anything() const noexcept { return from == kAnyRank || std::popcount(ignore) > 32; }

std::vector<Receive>::iterator Port::find_receive(const Message& message, bool directed) {
  return std::ranges::find_if(receives, [&](const Receive& receive) { return meet(receive, message, directed); });
}

std::vector<Message>::iterator Port::find_message(const Receive& receive, bool directed, bool blocking) {
  std::vector<Rank> held_up;
  for (auto message = waiting.begin(); message != waiting.end(); ++message) {
    if (std::ranges::find(held_up, message->from) != held_up.end()) continue;
    if (meet(receive, *message, directed)) return message;
    if (blocking) held_up.push_back(message->from);
  }
  return waiting.end();
}

bool Port::holds_up(Rank sender) const noexcept {
  return std::ranges::any_of(waiting, [sender](const Message& message) { return message.from == sender; });
}

std::optional<Notice> Port::take_notice(Time due) {
  if (notices.empty() || notices.begin()->first > due) return std::nullopt;
  return std::move(notices.extract(notices.begin()).mapped());
}

std::vector<std::byte> gather(std::span<const iovec> pieces) {
  std::vector<std::byte> bytes(total_bytes(pieces));
  local::gather(pieces, bytes.data(), bytes.size());
  return bytes;
}

}  // namespace fab::sim
