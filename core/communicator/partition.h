// The parts of a persistent exchange's blocks: which of them are ready, and what travels together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/plan.h"

namespace fab::core {

/// How the block of an edge is divided. Neighbouring parts form groups; a group is one message.
struct PartedBlock {
  static constexpr std::uint32_t kNoGroup = ~0u;  ///< of a part without bytes

  std::vector<std::uint32_t> group_of{};  ///< by part
  std::vector<Arrival> groups{};          ///< the operations that send, or bring, each
};

/// mark() may be called by several threads at once, and takes no lock.
class Partition {
 public:
  /// `name` is the call's, for errors.
  Partition(std::string name, std::vector<PartedBlock> outgoing, std::vector<PartedBlock> incoming);

  /// The exchange was started: no part is ready. Before any call of mark().
  void open() noexcept;
  /// This part of the block for a destination is ready. Returns the operations of its group if it was the last one of
  /// that; otherwise null. Throws Error(invalid_argument) for a destination or part that there is not, and for a part
  /// that is marked already, or before the first start.
  [[nodiscard]] const Arrival* mark(std::size_t destination, std::size_t part);
  /// What brings this part of the block of a source; null: it has no bytes. Throws Error(invalid_argument) for a source
  /// or part that there is not.
  [[nodiscard]] const Arrival* find_arrival(std::size_t source, std::size_t part) const;
  /// What brings the block of each source as a whole.
  [[nodiscard]] std::vector<Arrival> arrivals() const;

 private:
  struct Outgoing {
    PartedBlock block;
    std::unique_ptr<std::atomic<bool>[]> marked;             ///< by part
    std::unique_ptr<std::atomic<std::uint32_t>[]> unmarked;  ///< parts of each group that are not
  };

  std::string name_;
  std::vector<Outgoing> outgoing_;
  std::vector<PartedBlock> incoming_;
};

}  // namespace fab::core
