// The resources that the ranks of a node share, in virtual time: its card, in each direction, and its memory.
#pragma once

#include <cstdint>
#include <vector>

#include "providers/sim/model.h"

namespace fab::sim {

/// Who comes first is served first; each stands in line by itself, so that a long queue of one rank's holds up no
/// other.
class NodeShares {
 public:
  NodeShares(const Model& model, int ranks)
      : model_(model), nodes_(static_cast<std::size_t>(model.shares() ? node_of(ranks - 1) + 1 : 0)) {}

  /// When a message leaves that its sender's port could send at `now`.
  [[nodiscard]] Time leave(Rank from, Rank to, std::uint64_t bytes, Time now) {
    Node& node = nodes_[static_cast<std::size_t>(node_of(from))];
    return is_near(from, to) ? take(node.memory_free, model_.memory, bytes, now)
                             : take(node.out_free, model_.card, bytes, now);
  }
  /// When the card passes a message on to its receiver's port, if its first byte comes `now`.
  [[nodiscard]] Time arrive(Rank from, Rank to, std::uint64_t bytes, Time now) {
    if (is_near(from, to)) return now;
    return take(nodes_[static_cast<std::size_t>(node_of(to))].in_free, model_.card, bytes, now);
  }

 private:
  struct Node {
    Time out_free{};
    Time in_free{};
    Time memory_free{};
  };

  [[nodiscard]] int node_of(Rank rank) const noexcept { return rank / model_.ranks_per_node; }
  [[nodiscard]] bool is_near(Rank a, Rank b) const noexcept { return node_of(a) == node_of(b); }
  [[nodiscard]] static Time take(Time& free, const Share& share, std::uint64_t bytes, Time now) {
    const Time begin = now > free ? now : free;
    free = begin + share.occupied(bytes);
    return begin;
  }

  const Model& model_;
  std::vector<Node> nodes_;
};

/// Orders of events that share a time, so that a job and a prediction serve the ranks of a node alike: who wants to
/// leave, by rank; who arrives, by sender; then everything else, in the order of its making.
[[nodiscard]] constexpr std::uint64_t leave_order(Rank rank) noexcept { return static_cast<std::uint64_t>(rank) << 32; }
[[nodiscard]] constexpr std::uint64_t arrival_order(Rank from, std::uint64_t number) noexcept {
  return std::uint64_t{1} << 62 | static_cast<std::uint64_t>(from) << 32 | (number & 0xffff'ffff);
}
inline constexpr std::uint64_t kOtherOrders = std::uint64_t{1} << 63;

}  // namespace fab::sim
