// Matches messages and receives.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "providers/sim/simulation.h"

namespace fab::sim {

/// Of messages between two ranks with one slot, those that came first are taken first.
class EarlyMessages {
 public:
  void keep(Rank to, const Arrived& arrived);
  [[nodiscard]] std::optional<Arrived> take(Rank to, Rank from, std::uint8_t slot);

  struct Sample {
    Rank to;
    Rank from;
    std::uint8_t slot;
  };
  /// One that no receive has taken.
  [[nodiscard]] std::optional<Sample> any() const;

 private:
  /// In a pool of its own, whose links are numbers and whose memory is one piece, for there may be millions that wait
  /// for a moment.
  struct Node {
    Arrived arrived;
    std::uint32_t next;
  };
  struct Queue {
    std::uint32_t first;
    std::uint32_t last;
  };
  std::unordered_map<std::uint64_t, Queue> queues_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_;
};

/// The receives of the round that each rank has posted, as steps of its program.
class PostedReceives {
 public:
  explicit PostedReceives(Programs& programs) : programs_(programs) {}

  /// A receive of the round [begin, end).
  void post(Rank to, std::uint64_t index, std::uint64_t begin, std::uint64_t end);
  /// Takes the one that the message meets, if it is posted.
  [[nodiscard]] bool take(Rank to, Rank from, std::uint8_t slot, std::uint64_t begin, std::uint64_t end);

 private:
  /// Longer rounds are not searched from end to end for each message.
  static constexpr std::uint64_t kLong = 32;

  Programs& programs_;
  std::unordered_map<std::uint64_t, std::uint64_t> of_long_rounds_;
};

/// Throws Error(invalid_schedule) that names a rank with a receive in its last round [begin, end) that nothing has come
/// for.
void check_received(const Programs& programs, Rank rank, std::uint64_t begin, std::uint64_t end);
/// As above, for a message that no receive has taken.
void check_taken(const EarlyMessages& early);

}  // namespace fab::sim
