// One rank's end of a simulated network: its posts, the messages that arrived, and completions not reported yet.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/provider.h"
#include "fab/topology.h"
#include "providers/sim/time.h"

namespace fab::sim {

/// Messages and writes, as sent or as received.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes = 0;  ///< of both
};

/// A message on its way, or waiting for a receive.
struct Message {
  std::uint64_t number = 0;  ///< of the network's
  Rank from = 0;
  Rank to = 0;
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  std::vector<iovec> pieces{};            ///< the sender's memory, of a late one
  std::vector<std::byte> data{};          ///< otherwise a copy
  Completion* late_completion = nullptr;  ///< of a send that completes when the message is received
  Time here{};                            ///< its last byte has arrived
};

/// Of receives whose sender does not matter.
inline constexpr Rank kAnyRank = static_cast<Rank>(kAnyPeer);

struct Receive {
  Rank from = 0;
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
  std::vector<iovec> pieces;
  Completion* completion = nullptr;
  Time posted{};

  /// It takes any message, so it waits for no particular rank.
  [[nodiscard]] bool takes_anything() const noexcept;
};

struct Write {
  Rank from = 0;
  Rank to = 0;
  RemoteMemory target;
  std::uint32_t data = 0;
  std::vector<iovec> pieces;
  std::uint64_t bytes = 0;
  Completion* completion = nullptr;
};

/// What a rank is to be told: the end of an operation, or, without a completion, that a peer has written.
struct Notice {
  Completion* completion = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t tag = 0;
  Status failure{};
  Time overhead{};         ///< of the processor
  std::uint32_t data = 0;  ///< of a peer's write
};

/// A message or write that waits for its sender's port, where ranks share a card.
struct Outgoing {
  Time ready{};  ///< the processor is done with it
  Rank to = 0;
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;  ///< of the message or write; 0: it is lost
  bool is_write = false;
  Completion* completion = nullptr;  ///< ends when the last byte has left
};

struct Port {
  /// By the order in which they were posted, or have come.
  std::vector<Receive> receives;
  std::vector<Message> waiting;
  std::multimap<Time, Notice> notices;                    ///< from when on the rank can know
  std::map<std::uint64_t, std::span<std::byte>> exposed;  ///< by key
  WriteListener* listener = nullptr;
  Time clock{};     ///< the processor is busy until then
  Time out_free{};  ///< so is the port's way out
  Time in_free{};   ///< and its way in
  std::deque<Outgoing> outgoing;
  Traffic sent;
  Traffic received;
  std::unordered_map<Rank, WayCounts> ways;  ///< of what has left for each peer
  std::uint64_t dies_after_messages = ~0ull;
  int idle_polls = 0;             ///< while it holds messages up
  int registrations_refused = 0;  ///< of the next ones
  bool refused = false;           ///< a post, since the last poll
  bool dead = false;
  bool known_dead = false;  ///< the others have been told
  int wait_fd = -1;

  /// The first receive that takes the message; end if there is none.
  [[nodiscard]] std::vector<Receive>::iterator find_receive(const Message& message, bool directed);
  /// The first message that the receive takes, and that does not stand behind one of its sender's which no receive
  /// takes.
  [[nodiscard]] std::vector<Message>::iterator find_message(const Receive& receive, bool directed, bool blocking);
  /// Whether a message of this sender waits.
  [[nodiscard]] bool holds_up(Rank sender) const noexcept;
  /// The next notice that is due.
  [[nodiscard]] std::optional<Notice> take_notice(Time due);
};

/// The bytes of the pieces.
[[nodiscard]] std::vector<std::byte> gather(std::span<const iovec> pieces);

}  // namespace fab::sim
