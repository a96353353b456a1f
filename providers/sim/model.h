// The cost of messages by LogGP (Alexandrov, Ionescu, Schauser, Scheiman: LogGP, SPAA 1995), depending on the distance
// between two ranks, and of what the ranks of a node share, by the max-rate model (Gropp, Olson, Samfass: Modeling MPI
// Communication Performance on SMP Nodes, EuroMPI 2016): there k ranks of a node that each send n bytes at once take
// latency + k n / min(R_N, k R_C), R_N being the rate of the node's card and R_C that of a rank. Here R_C = 1/G of a
// link and R_N = 1/G of the card, which moreover takes g for each message.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "fab/topology.h"
#include "providers/sim/time.h"

namespace fab::sim {

/// Of so many bytes, at most 2^61 ps.
[[nodiscard]] constexpr Time time_of(Time per_kib, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 61;
  const auto ps = static_cast<std::uint64_t>(per_kib.count());
  const std::uint64_t kib = bytes / 1024;
  if (ps > 0 && kib >= kMost / ps) return Time(static_cast<std::int64_t>(kMost));
  return Time(static_cast<std::int64_t>(kib * ps + bytes % 1024 * ps / 1024));
}

/// Of the bytes of a message.
enum class Payer : std::uint8_t { card, processor };

/// Of messages between two ranks.
struct LinkCost {
  Time latency{};      ///< L: of the first byte, from end to end
  Time overhead{};     ///< o: of the processor, for each message, at each end
  Time gap{};          ///< g: least time between two messages of a rank, in each direction
  Time gap_per_kib{};  ///< 1024 G
  Payer sender_pays = Payer::card;
  Payer receiver_pays = Payer::card;

  /// From the first to the last byte of a message.
  [[nodiscard]] constexpr Time stretch(std::uint64_t bytes) const noexcept {
    return bytes == 0 ? Time{} : time_of(gap_per_kib, bytes - 1);
  }
};

/// What the ranks of a node share. A message of k bytes occupies it for g + (k - 1) G; meanwhile it serves no other.
struct Share {
  Time gap{};          ///< g: least time between two messages of the node
  Time gap_per_kib{};  ///< 1024 G

  [[nodiscard]] constexpr Time occupied(std::uint64_t bytes) const noexcept {
    return gap + (bytes == 0 ? Time{} : time_of(gap_per_kib, bytes - 1));
  }
  [[nodiscard]] constexpr bool is_free() const noexcept { return gap == Time{} && gap_per_kib == Time{}; }
};

/// A machine: ranks sit on nodes in order, nodes on switches likewise.
///
/// A rank has one processor and one port to the network. A message of k bytes costs the sender's processor o; then its
/// bytes leave through the port, (k - 1) G long, and g + (k - 1) G after its first byte the next message may leave. The
/// first byte arrives L later. The receiver's port takes messages one after the other in the same manner. When the last
/// byte is in and a receive is there, the receiver's processor spends o, as soon as it is free.
///
/// That is how cards work that read and write memory by themselves: cards pay G. Where bytes are copied by processors,
/// those pay: the one that sends, that receives, or both are busy for o + (k - 1) G. If that is so between any ranks,
/// the rules are those of LogGOPSim. A message takes port and processor of its receiver when its first byte is there,
/// whether or not a receive is. A send takes them when both are free, which others may be before it, and is complete
/// then; a long one is when its receive is posted and it has begun to arrive. Who wants a processor gets it in the
/// order in which they began to: a message that came while it was busy precedes a round that begins later.
///
/// Ranks of a node may share a card and its memory. A message to another node that its sender's port could send, and
/// one that comes from another node, waits until the card serves it, in the order of their coming, each direction by
/// itself; a message within the node waits likewise for the memory, once. The port's own time, g + (k - 1) G of the
/// link, begins when the card's does. So k ranks of a node that send one message each at once see the last one leave k
/// - 1 gaps of the card after the first, and long ones of n bytes take max(G, k G_card) n. Only models whose cards pay
/// G share.
struct Model {
  int ranks_per_node = 16;
  int nodes_per_switch = 32;
  LinkCost same_node{nanoseconds(300), nanoseconds(100), nanoseconds(50), nanoseconds(0.1 * 1024)};
  LinkCost same_switch{nanoseconds(1000), nanoseconds(300), nanoseconds(100), nanoseconds(0.04 * 1024)};
  LinkCost far{nanoseconds(1800), nanoseconds(300), nanoseconds(100), nanoseconds(0.04 * 1024)};
  /// Sends up to this size are complete when their last byte has left; longer ones when they are received, too.
  std::uint64_t eager_bytes = 64 * 1024;
  Share card{};    ///< of a node, for messages to and from others; free: each rank has one of its own
  Share memory{};  ///< of a node, for messages within it
  /// Of the processor, to copy or reduce 1024 bytes. Only predictions know of it: a Job's copies take no virtual time.
  Time work_per_kib = nanoseconds(0.1 * 1024);

  [[nodiscard]] const LinkCost& cost(Rank a, Rank b) const noexcept {
    const int node_a = a / ranks_per_node;
    const int node_b = b / ranks_per_node;
    if (node_a == node_b) return same_node;
    return node_a / nodes_per_switch == node_b / nodes_per_switch ? same_switch : far;
  }
  [[nodiscard]] constexpr bool processors_pay() const noexcept {
    const auto pays = [](const LinkCost& cost) {
      return cost.sender_pays == Payer::processor || cost.receiver_pays == Payer::processor;
    };
    return pays(same_node) || pays(same_switch) || pays(far);
  }
  /// Something that costs time.
  [[nodiscard]] constexpr bool shares() const noexcept { return !card.is_free() || !memory.is_free(); }
  [[nodiscard]] constexpr Time work(std::uint64_t bytes) const noexcept { return time_of(work_per_kib, bytes); }
};

/// One cost for all messages between any two ranks.
[[nodiscard]] Model uniform_model(const LinkCost& cost);

/// Reads a network file, a JSON object. What it does not name keeps its default:
///
///     { "ranks_per_node": 16, "nodes_per_switch": 32, "eager_bytes": 65536, "work_ns_per_byte": 0.1,
///       "same_node":   { "L_ns": 300,  "o_ns": 100, "g_ns": 50,  "G_ns_per_byte": 0.1 },
///       "same_switch": { "L_ns": 1000, "o_ns": 300, "g_ns": 100, "G_ns_per_byte": 0.04 },
///       "far":         { "L_ns": 1800, "o_ns": 300, "g_ns": 100, "G_ns_per_byte": 0.04,
///                        "sender_pays_G": "card", "receiver_pays_G": "processor" },
///       "node_card":   { "g_ns": 5, "G_ns_per_byte": 0.08 }, "node_memory": { "G_ns_per_byte": 0.01 },
///       "description": "a line for --list-networks", "sources": [ "where the figures come from" ] }
///
/// node_card: least time between two messages of a node in one direction (1e9 over its messages a second), and time for
/// each byte (1e9 over its bytes a second); node_memory: time for each byte of messages within the node.
/// Throws Error(invalid_argument) that names file, field and what is valid.
[[nodiscard]] Model read_model(const std::string& file);
/// read_model from text; `name` stands for the file in messages.
[[nodiscard]] Model parse_model(const std::string& text, const std::string& name);
/// The field of a network file that describes it; empty if there is none. Throws as read_model.
[[nodiscard]] std::string describe_network(const std::string& file);
/// What they read.
[[nodiscard]] std::string to_json(const Model& model);

}  // namespace fab::sim
