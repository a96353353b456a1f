// The schedules of all ranks in compact form.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fab/schedule.h"

namespace fab::sim {

/// What a rank does, in order: operations, and the ends of rounds.
struct Step {
  enum class Kind : std::uint8_t { send, recv, received, work, end_of_round };

  Rank peer = 0;
  std::uint16_t size = 0;  ///< index of Programs::bytes
  std::uint8_t slot = 0;
  Kind kind = Kind::end_of_round;
};
static_assert(sizeof(Step) == 8);

class Programs {
 public:
  explicit Programs(int ranks) : ranks_(ranks) { begins_.reserve(static_cast<std::size_t>(ranks) + 1); }

  /// Of the next rank. Throws Error(invalid_schedule) for a peer that does not exist, Error(no_resources) for a slot or
  /// a number of sizes beyond what a Step holds.
  void add(const Schedule& schedule);

  [[nodiscard]] std::uint64_t begin(Rank rank) const { return begins_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::uint64_t end(Rank rank) const { return begins_[static_cast<std::size_t>(rank) + 1]; }
  [[nodiscard]] const Step& step(std::uint64_t index) const { return steps_[index]; }
  /// Of the round that begins there.
  [[nodiscard]] std::uint64_t end_of_round(std::uint64_t index) const {
    while (steps_[index].kind != Step::Kind::end_of_round) ++index;
    return index;
  }
  void set_received(std::uint64_t index) { steps_[index].kind = Step::Kind::received; }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }  ///< that are sent
  [[nodiscard]] std::uint64_t bytes(const Step& step) const { return sizes_[step.size]; }

 private:
  [[nodiscard]] std::uint16_t size_index(std::uint64_t bytes);

  int ranks_;
  std::vector<std::uint64_t> begins_{0};
  std::vector<Step> steps_;
  std::uint64_t messages_ = 0;
  std::vector<std::uint64_t> sizes_;
  std::unordered_map<std::uint64_t, std::uint16_t> size_indices_;
};

}  // namespace fab::sim
