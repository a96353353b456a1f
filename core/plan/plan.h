// A plan: a schedule bound to a communicator, its peers resolved, its messages given their form on the wire.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/job/membership.h"
#include "core/peers/peers.h"
#include "core/progress/urgency.h"
#include "core/wire/message_parts.h"
#include "fab/layout.h"
#include "fab/schedule.h"
#include "fab/statistics.h"

namespace fab::core {

/// Messages in each direction between two ranks that are written into the receiver's memory; exchanges with more of
/// them send messages.
constexpr std::size_t kMostChannels = 32;

/// What each start of a plan moves, as OperationStatistics has it.
struct PlannedAmounts {
  MessageAmounts sent{};
  MessageAmounts packed{};
  MessageAmounts written{};
  MessageAmounts received{};
  MessageAmounts unpacked{};
};

/// Something to post, or to copy: an operation of the schedule, or one of the parts of a long message.
struct PlannedOperation {
  /// head: the first part of a long message; later: another part of it. credit: the receiver's leave to write a
  /// one-sided message, which is an operation of its own.
  enum class Part : std::uint8_t { whole, head, later, credit };
  static constexpr std::uint32_t kNoChannel = ~0u;

  explicit PlannedOperation(const OperationRecord& its_record) noexcept : record(&its_record), kind(its_record.kind) {}

  const OperationRecord* record;
  Peer* peer = nullptr;              ///< send, recv
  std::uint64_t message_tag = 0;     ///< the tag less context and sequence
  std::uint64_t bytes = 0;           ///< of this part, frame included
  std::uint64_t message_bytes = 0;   ///< of all parts, frame included
  std::uint64_t message_offset = 0;  ///< where this part begins among them
  std::uint64_t staging_offset = 0;  ///< where the frame, or the staged message, begins
  std::uint32_t first_piece = 0;     ///< in the plan's pieces
  std::uint32_t piece_count = 0;
  std::uint32_t first_share = 0;  ///< in the plan's shares
  std::uint32_t share_count = 0;  ///< 0: not staged
  std::uint32_t frame_bytes = 0;  ///< 0: no frame
  OperationKind kind;             ///< the record's
  Part part = Part::whole;
  std::uint8_t write = 0;  ///< one-sided: its number among the message's writes
  bool staged = false;     ///< packed to (unpacked from) the run's staging memory; otherwise in place
  bool two_slots = false;  ///< one-sided: starts use two slots of staging memory in turn
  bool credited = false;   ///< one-sided: the writer needs credits
  /// Of sends of a round that have the same bytes in the same memory, to different peers of a provider that can copy
  /// them once: the same number, not 0.
  std::uint16_t common = 0;
  std::uint32_t channel = kNoChannel;  ///< one-sided: see OneSided; otherwise none

  [[nodiscard]] bool receives() const noexcept { return kind == OperationKind::recv && part != Part::credit; }
  /// Of a message. One of several parts is one message.
  [[nodiscard]] MessageAmounts amounts() const noexcept { return {part == Part::later ? 0u : 1u, bytes}; }
  /// Something is written to staging memory before it is sent.
  [[nodiscard]] bool packs() const noexcept { return kind == OperationKind::send && share_count + frame_bytes > 0; }
  /// From one slot to the next.
  [[nodiscard]] std::uint64_t slot_distance() const noexcept;
};

/// A piece of memory of a run. Buffers beyond the schedule's are the run's own: see Plan::staging and Plan::surplus.
struct PlannedPiece {
  BufferId buffer = BufferId::send;
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;

  bool operator==(const PlannedPiece&) const = default;
};

/// Bytes of a block that a message, or a part of it, has in staging memory.
struct PlannedShare {
  const BlockRecord* block = nullptr;
  std::uint32_t first_node = 0;      ///< of the block's, where the range begins; it counts from there
  PackedRange range{};               ///< of what the block packs to
  std::uint64_t staging_offset = 0;  ///< where they begin
};

/// What brings the block of an edge: planned operations [first, first + count) of a round. Without any, as for a block
/// without bytes or one that the rank sends itself, the block is there once the round is posted. A copy that is held
/// back (Run::hold_back) is its one operation.
struct Arrival {
  std::uint32_t round = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// What a copy between two blocks in pieces packs, and unpacks again, at a time: so little that it stays in the cache.
/// All of it where steps would look for their places among many nodes, or write what a later one reads.
[[nodiscard]] std::uint64_t bytes_at_once(const BlockRecord& from, const BlockRecord& to) noexcept;

/// Immutable but for its peers' states, which the engine's lock guards.
class Plan {
 public:
  /// What it serves: many runs, or the one run of a persistent exchange, which may write into its peers' memory.
  enum class Use { runs, persistent_run };

  /// Resolves peers and reserves memory. Throws Error(no_resources) for a slot or message beyond what tag and provider
  /// hold.
  Plan(Membership& membership, Schedule schedule, Use use = Use::runs) FAB_REQUIRES(engine_lock);
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  [[nodiscard]] const Schedule& schedule() const noexcept { return schedule_; }
  [[nodiscard]] Membership& membership() const noexcept { return membership_; }
  [[nodiscard]] std::span<Peer* const> peers() const noexcept { return peers_; }
  [[nodiscard]] std::size_t round_count() const noexcept { return rounds_.size(); }
  /// What to post in a round, in order. The parts of a message stand side by side, head first.
  [[nodiscard]] std::span<const PlannedOperation> messages(std::size_t round) const noexcept {
    return {operations_.data() + rounds_[round].first, rounds_[round].messages};
  }
  /// What the round does in this rank's memory, after it has posted its messages.
  [[nodiscard]] std::span<const PlannedOperation> local_operations(std::size_t round) const noexcept {
    return {operations_.data() + rounds_[round].first + rounds_[round].messages, rounds_[round].local_operations};
  }
  [[nodiscard]] std::span<const PlannedPiece> pieces(const PlannedOperation& operation) const noexcept {
    return std::span(pieces_).subspan(operation.first_piece, operation.piece_count);
  }
  [[nodiscard]] std::span<const PlannedShare> shares(const PlannedOperation& operation) const noexcept {
    return std::span(shares_).subspan(operation.first_share, operation.share_count);
  }
  /// Of all operations.
  [[nodiscard]] std::span<const PlannedPiece> pieces() const noexcept { return pieces_; }
  /// The operations of the first round that send (receive) a message, which is the only one with its peer and slot; a
  /// copy where the peer is this rank. None there: a count of 0.
  [[nodiscard]] Arrival find(OperationKind kind, Edge edge) const noexcept;
  /// One for each edge on which this rank receives.
  [[nodiscard]] std::vector<Arrival> arrivals(std::span<const Edge> sources) const;
  [[nodiscard]] PlannedAmounts amounts() const noexcept;
  /// Calls `visit(peer, amounts)` for each message that a start receives, part by part.
  template <class Visit>
  void visit_received(Visit&& visit) const {
    for (const PlannedOperation& operation : operations_)
      if (operation.receives()) visit(*operation.peer, operation.amounts());
  }
  [[nodiscard]] std::size_t widest_round() const noexcept { return widest_round_; }
  /// Sends with the same PlannedOperation::common, at most.
  [[nodiscard]] std::size_t most_in_common() const noexcept { return most_in_common_; }
  /// Its runs call a function of the user's.
  [[nodiscard]] bool has_user_reductions() const noexcept { return has_user_reductions_; }
  [[nodiscard]] std::size_t staging_bytes() const noexcept { return staging_bytes_; }
  /// Messages that are written into the peer's memory, or that the peer writes.
  [[nodiscard]] std::uint32_t channel_count() const noexcept { return channel_count_; }
  /// The run's staging memory, as a buffer.
  [[nodiscard]] BufferId staging() const noexcept { return static_cast<BufferId>(schedule_.buffer_count()); }
  /// Memory that takes what is too long, as a buffer.
  [[nodiscard]] BufferId surplus() const noexcept { return static_cast<BufferId>(schedule_.buffer_count() + 1); }
  static constexpr std::size_t kOwnBuffers = 2;  ///< of a run: those two
  [[nodiscard]] std::size_t buffer_count() const noexcept { return schedule_.buffer_count() + kOwnBuffers; }

  /// Everything that a run needs is known: the context id and all addresses.
  [[nodiscard]] bool ready() const noexcept FAB_REQUIRES(engine_lock) { return all_ready_ || find_ready(); }
  /// Of a run that starts now: until the plan is ready it needs polls.
  [[nodiscard]] Urgency urgency() const noexcept FAB_REQUIRES(engine_lock) {
    return ready() ? urgency_ : Urgency::polls;
  }
  /// Why it will never be ready: a peer's look-up failed, or the communicator got no id. Null otherwise.
  [[nodiscard]] const Status* failure() const noexcept FAB_REQUIRES(engine_lock) {
    return all_ready_ ? nullptr : find_failure();
  }
  /// One whose look-up failed; null: none did.
  [[nodiscard]] const Peer* failed_peer() const noexcept FAB_REQUIRES(engine_lock);
  /// The peers whose addresses have not come yet, for messages.
  [[nodiscard]] std::string missing_peers() const FAB_REQUIRES(engine_lock);

 private:
  using Pieces = std::vector<PlannedPiece>;
  struct Round {
    std::size_t first;  ///< of its operations: messages, then local ones
    std::size_t messages;
    std::size_t local_operations;
  };

  void plan_round(std::span<const OperationRecord> records);
  void plan_operation(const OperationRecord& record);
  void find_common_sends(std::span<PlannedOperation> operations);
  [[nodiscard]] bool have_in_common(const PlannedOperation& one, const PlannedOperation& other) const;
  void plan_copy(PlannedOperation operation);
  void plan_message(PlannedOperation operation);
  void plan_channel(PlannedOperation operation);
  [[nodiscard]] bool find_ready() const noexcept FAB_REQUIRES(engine_lock);
  [[nodiscard]] Urgency find_urgency() const noexcept FAB_REQUIRES(engine_lock);
  [[nodiscard]] const Status* find_failure() const noexcept FAB_REQUIRES(engine_lock);
  void choose_one_sided_peers();
  void check_limits(const PlannedOperation& operation) const;
  [[nodiscard]] std::uint64_t bytes_to_stage(const PlannedOperation& operation) const;
  [[nodiscard]] static std::size_t max_pieces(const PlannedOperation& operation) noexcept;
  [[nodiscard]] Pieces pieces_in_place(const PlannedOperation& operation) const;
  [[nodiscard]] bool fits_in_place(const PlannedOperation& operation, const Pieces& pieces) const;
  void add(PlannedOperation operation, std::uint64_t offset, std::span<const PlannedPiece> pieces);
  void add_shares(PlannedOperation& operation, std::uint64_t offset);
  [[nodiscard]] PlannedShare share_of(const BlockRecord& block, PackedRange range, std::uint64_t staging_offset) const;
  void add_parts(const PlannedOperation& operation, const Pieces& pieces);
  void add_writes(PlannedOperation operation, const Pieces& pieces);
  std::uint64_t stage(std::uint64_t bytes) noexcept;

  Membership& membership_;
  Schedule schedule_;
  std::vector<Peer*> peers_;  ///< the peer array: index as in the schedule's peer table
  std::vector<PlannedOperation> operations_;
  std::vector<Round> rounds_;
  Pieces pieces_;
  std::vector<PlannedShare> shares_;
  std::size_t staging_bytes_ = 0;
  std::size_t widest_round_ = 0;
  std::size_t most_in_common_ = 0;
  bool has_user_reductions_ = false;
  std::vector<bool> one_sided_peers_;  ///< as peers_
  std::uint32_t channel_count_ = 0;
  mutable bool all_ready_ FAB_GUARDED_BY(engine_lock) = false;
  mutable Urgency urgency_ FAB_GUARDED_BY(engine_lock) = Urgency::polls;
};

}  // namespace fab::core
