// Options of a simulated network: how much of its freedom it uses against the program.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "core/provider.h"
#include "providers/sim/model.h"

namespace fab::sim {

/// A message as it is sent.
struct Departure {
  Rank from = 0;
  Rank to = 0;
  std::uint64_t tag = 0;
  std::uint64_t bytes = 0;
  std::uint64_t number = 0;  ///< of the sender's messages, from 0
};

/// The end of a rank, by the event that comes first.
struct Death {
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  Rank rank = 0;
  Time at = Time::max();
  std::uint64_t after_messages = kNever;  ///< it dies when it wants to send one more
};

struct Options {
  Model model{};
  /// What the provider says of itself, and keeps. With wait_fd ranks poll by themselves, in as many threads as they
  /// like, and a poll that finds nothing lets time pass; without it the test calls Network::advance (see sim::Job).
  Capabilities capabilities{.inject_bytes = 64,
                            .iov_limit = 4,
                            .max_message_bytes = 1ull << 30,
                            .directed_receive = true,
                            .takes_longer_messages = true};
  std::uint32_t seed = 1;
  unsigned refused_percent = 0;  ///< of posts
  /// Each message takes longer by a random time up to this, so messages overtake each other (those of one tag between
  /// two ranks excepted); so does each completion.
  Time longest_delay{};
  bool ordered = false;  ///< all messages of one rank to another keep their order (implied by early_messages_block)
  /// Which messages are lost. Their sends succeed.
  std::function<bool(const Departure&)> loses{};
  std::vector<Death> deaths{};
  Time notice_after{};  ///< from a rank's death until the others are told
};

/// Refuses, delays, reorders, and reads send buffers as late as it may: what libfabric allows, and hardly any network
/// does.
[[nodiscard]] inline Options adversarial(std::uint32_t seed) {
  Options options;
  options.model.eager_bytes = 0;
  options.seed = seed;
  options.refused_percent = 30;
  options.longest_delay = std::chrono::microseconds(20);
  return options;
}

}  // namespace fab::sim
