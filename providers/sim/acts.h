// The actions of ranks if processors pay G, and the resources that each action waits for.
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "providers/sim/program.h"
#include "providers/sim/time.h"

namespace fab::sim {

/// An event of a rank.
struct Act {
  enum class Kind : std::uint8_t {
    round,  ///< the next one of the rank's may begin
    send,
    receives,  ///< of the round are posted
    work,
    message,  ///< its first byte arrives
    taken,    ///< by the card, and the processor is to have its part
    wake,     ///< something that has waited may go on
  };

  Time at;
  std::uint64_t order;
  Rank rank;
  Rank from = 0;
  Step step{};
  Kind kind;

  bool operator>(const Act& other) const noexcept { return std::tie(at, order) > std::tie(other.at, other.order); }
};

/// What it needs of its rank.
enum class Need : std::uint8_t { nothing, processor, processor_and_way_out, processor_and_way_in, way_in };
inline constexpr std::size_t kNeeds = 5;

/// Acts that wait, each kind in the order of their making.
struct Waiting {
  struct Later {
    bool operator()(const Act& a, const Act& b) const noexcept { return a.order > b.order; }
  };
  std::array<std::priority_queue<Act, std::vector<Act>, Later>, kNeeds> of;
};

struct When {
  Time at;
  std::uint64_t order;
  auto operator<=>(const When&) const = default;
};

}  // namespace fab::sim
