// A plan: a schedule bound to a communicator, its peers resolved, its messages given their form on the wire.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/peers.h"
#include "fab/schedule.h"

namespace fab::core {

class Communicator;
class Run;

/// How a message leaves or enters memory.
enum class Wire : std::uint8_t {
  direct,  ///< one piece, in place
  gather,  ///< several pieces in place, by the provider's iov
  staged,  ///< packed to (unpacked from) the run's staging memory
};

/// An operation of the schedule, ready to be posted.
struct PreparedOperation {
  const OperationRecord* record = nullptr;
  Peer* peer = nullptr;              ///< send, recv
  std::uint64_t message_tag = 0;     ///< the tag less context and sequence
  std::uint64_t wire_bytes = 0;      ///< frame included
  std::uint32_t first_piece = 0;     ///< direct, gather: in the plan's pieces
  std::uint32_t piece_count = 0;
  std::uint64_t staging_offset = 0;  ///< staged: where the message lies; gather: where its frame lies
  std::uint32_t frame_bytes = 0;     ///< 0: no frame
  Wire wire = Wire::direct;
};

/// A piece of memory relative to a buffer of the run.
struct PlannedPiece {
  BufferId buffer = BufferId::send;
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Immutable but for its peers' states and its pool of runs, which the engine's lock guards.
class Plan : public std::enable_shared_from_this<Plan> {
 public:
  /// Resolves peers and reserves memory. Call under the engine's lock. Throws Error(no_resources) for a slot or
  /// message beyond what tag and provider hold.
  Plan(Communicator& communicator, Schedule schedule);
  ~Plan();

  [[nodiscard]] const Schedule& schedule() const noexcept { return schedule_; }
  [[nodiscard]] Communicator& communicator() const noexcept { return communicator_; }
  [[nodiscard]] std::span<const PreparedOperation> operations(const RoundRecord& round) const noexcept {
    return std::span(operations_).subspan(round.first_operation, round.operation_count);
  }
  [[nodiscard]] std::span<const PlannedPiece> pieces(const PreparedOperation& operation) const noexcept {
    return std::span(pieces_).subspan(operation.first_piece, operation.piece_count);
  }
  [[nodiscard]] std::uint32_t widest_round() const noexcept { return widest_round_; }
  [[nodiscard]] std::size_t staging_bytes() const noexcept { return staging_bytes_; }

  /// Everything that a run needs is known: the context id and all addresses.
  [[nodiscard]] bool ready() const noexcept;
  /// The failure of a peer's look-up, if one failed.
  [[nodiscard]] const Peer* failed_peer() const noexcept;
  /// The peers whose addresses have not come yet, for messages.
  [[nodiscard]] std::string missing_peers() const;

  /// A run of this plan that nobody uses; made when there is none.
  Run& acquire();
  void release(Run& run) noexcept;

 private:
  void prepare(const OperationRecord& record);
  void prepare_message(PreparedOperation& operation);
  void prepare_copy(PreparedOperation& operation);
  bool gather(PreparedOperation& operation);
  std::uint64_t stage(std::uint64_t bytes) noexcept;

  Communicator& communicator_;
  Schedule schedule_;
  std::vector<Peer*> peers_;  ///< the peer array: index as in the schedule's peer table
  std::vector<PreparedOperation> operations_;
  std::vector<PlannedPiece> pieces_;
  std::size_t staging_bytes_ = 0;
  std::uint32_t widest_round_ = 0;
  mutable bool all_ready_ = false;
  std::vector<std::unique_ptr<Run>> runs_;
  Run* idle_runs_ = nullptr;
};

}  // namespace fab::core
