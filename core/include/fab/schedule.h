// Schedules: a communication pattern that is known in advance, stored as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fab/api.h"
#include "fab/layout.h"
#include "fab/reduction.h"
#include "fab/topology.h"

namespace fab {

/// A symbolic buffer. Its address is given when the schedule starts. Scratch belongs to the running request.
enum class BufferId : std::uint32_t {
  send = 0,     ///< the caller's send buffer
  recv = 1,     ///< the caller's receive buffer
  scratch = 2,  ///< ScheduleBuilder::scratch reserves it
  user = 3      ///< the first additional buffer (user_buffer)
};

/// The user's n-th additional buffer, counted from 0.
constexpr BufferId user_buffer(std::uint32_t n) noexcept {
  return static_cast<BufferId>(static_cast<std::uint32_t>(BufferId::user) + n);
}

/// The kind of an operation of a schedule.
enum class OperationKind : std::uint8_t {
  send,   ///< sends blocks to a peer, as one message
  recv,   ///< receives one message from a peer into blocks
  copy,   ///< copies a block to another one of this rank
  reduce  ///< combines a block with another one of this rank
};

/// Whether an operation of this kind has a peer. The other kinds are local.
constexpr bool is_message(OperationKind kind) noexcept { return kind <= OperationKind::recv; }

/// Part of a buffer: a layout, `offset` bytes from the buffer's address.
struct Block {
  BufferId buffer = BufferId::send;  ///< the buffer in which it lies
  std::ptrdiff_t offset = 0;         ///< bytes from the buffer's address to the layout's base
  Layout layout{};                   ///< its bytes, in the order in which they travel
};

/// A block as a committed schedule stores it. The bytes are the pieces of the layout nodes
/// [first_node, first_node + node_count); without nodes they are `bytes` bytes in a row from `offset`.
struct BlockRecord {
  std::int64_t offset = 0;           ///< bytes from the buffer's address to the layout's base
  std::uint64_t bytes = 0;           ///< bytes of data
  BufferId buffer = BufferId::send;  ///< the buffer in which it lies
  std::uint32_t first_node = 0;      ///< index in the node table
  std::uint32_t node_count = 0;      ///< 0: the bytes lie in a row
  std::uint32_t slot = 0;            ///< of this block; a combined message has the slot of its first block
};

/// One operation of a committed schedule. A send or receive moves its blocks, in order, as one message. A copy moves
/// its first block to its second. A reduce combines its first block, which holds the operand of the lower ranks, with
/// its second, and leaves the result there.
struct OperationRecord {
  OperationKind kind = OperationKind::copy;  ///< decides which of the other members count
  std::uint8_t unused = 0;                   ///< 0, so that equal schedules have equal bytes
  Reduction reduction{};                     ///< reduce
  std::uint32_t peer = 0;                    ///< index in the peer table (send, recv)
  std::uint32_t slot = 0;                    ///< tells messages between the same two ranks apart
  std::uint32_t first_block = 0;             ///< index in the block table
  std::uint32_t block_count = 0;             ///< blocks from there on; 2 for copy and reduce
  std::uint32_t element_bytes = 0;           ///< reduce
  std::uint64_t bytes = 0;                   ///< payload
};

/// Operations [first_operation, first_operation + operation_count) may be in flight together. The next round starts
/// when they are done (Hoefler and Lumsdaine, Design, Implementation, and Usage of LibNBC, 2.1). Copies and reduces run
/// one after the other, once all messages of the round are posted.
struct RoundRecord {
  std::uint32_t first_operation = 0;  ///< index in Schedule::operations()
  std::uint32_t operation_count = 0;  ///< at least 1 in a committed schedule, which has no empty rounds
};

struct ScheduleHeader;  // the head of its memory (core/schedule/header.h)

/// One rank's committed plan. It is immutable, lies in one piece of memory and has no pointers: so it can be copied,
/// compared, stored and bound to other buffers. Copies are cheap (shared).
class FAB_API Schedule {
 public:
  /// The inverse of bytes(). Throws Error(invalid_schedule) if the bytes are no schedule of this version.
  static Schedule from_bytes(std::span<const std::byte> bytes);

  /// The call that it carries out, as ScheduleBuilder was given it: "neighbor_xchg".
  [[nodiscard]] std::string_view name() const noexcept;
  [[nodiscard]] std::span<const Rank> peers() const noexcept;          ///< ranks of the communicator, each once
  [[nodiscard]] std::span<const RoundRecord> rounds() const noexcept;  ///< in the order in which they run
  /// The operations of all rounds, round by round.
  [[nodiscard]] std::span<const OperationRecord> operations() const noexcept;
  /// @{
  /// The records that belong to a record of this schedule. nodes() is empty for a block whose bytes lie in a row.
  [[nodiscard]] std::span<const OperationRecord> operations(const RoundRecord& round) const noexcept;
  [[nodiscard]] std::span<const BlockRecord> blocks(const OperationRecord& operation) const noexcept;
  [[nodiscard]] std::span<const LayoutNode> nodes(const BlockRecord& block) const noexcept;
  /// @}
  [[nodiscard]] std::size_t scratch_bytes() const noexcept;   ///< bytes of scratch that a run needs
  [[nodiscard]] std::uint32_t buffer_count() const noexcept;  ///< buffers that the operations use, scratch included
  /// The schedule as bytes, for from_bytes() in a process of the same version and byte order. Valid while a copy of
  /// this schedule lives.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;

  bool operator==(const Schedule& other) const noexcept;  ///< bytes() are equal, names included

  /// The schedule as text, one line per round and per operation.
  [[nodiscard]] std::string to_string() const;
  /// The schedule as a Graphviz digraph: rounds are clusters, and each message and copy is an edge.
  [[nodiscard]] std::string to_graphviz() const;
  /// The part of rank `self` in a GOAL file (Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010). The caller writes
  /// the file's first line, "num_ranks P", and then a part for each rank. Slots become tags. Local work takes
  /// work_ns_per_byte for each byte. A round requires the round before it. A rank without operations computes for 0 ns.
  [[nodiscard]] std::string to_goal(Rank self, double work_ns_per_byte = 0) const;

 private:
  friend class ScheduleBuilder;
  explicit Schedule(std::shared_ptr<const std::vector<std::uint64_t>> storage) : storage_(std::move(storage)) {}
  [[nodiscard]] const ScheduleHeader& header() const noexcept;
  template <class Record>
  [[nodiscard]] std::span<const Record> table(std::uint32_t offset, std::uint32_t count) const noexcept;
  void validate() const;
  void validate_tables() const;
  void validate_operation(const OperationRecord& operation) const;

  std::shared_ptr<const std::vector<std::uint64_t>> storage_;
};

/// Options of ScheduleBuilder::commit.
struct CommitOptions {
  /// Messages of one round to (from) one peer whose blocks together have at most this many bytes become one message.
  /// Must be the same on every rank.
  std::size_t combine_bytes = 0;
  /// A lower limit for some peers. Both ends of a pair must give the same limit. Empty: no peer has one.
  std::function<std::size_t(Rank peer)> combine_bytes_of{};
  /// Pipelines (ScheduleBuilder::begin_pipeline) are cut into segments of about this many bytes; 0: they stay whole.
  /// Must be the same on every rank.
  std::size_t segment_bytes = 0;
};

/// Where a part of a schedule goes that was built as if it were alone (ScheduleBuilder::append).
struct PartPlace {
  /// Where one of its buffers begins.
  struct Begin {
    BufferId buffer = BufferId::send;  ///< a buffer of the schedule that the part goes to
    std::ptrdiff_t offset = 0;         ///< bytes from that buffer's address
  };

  std::function<Rank(Rank)> rank_of{};  ///< the rank that each rank of the part is; empty: the same one
  std::uint32_t first_slot = 0;         ///< what is slot 0 there; slots go round, 255 is followed by 0
  Begin send{BufferId::send, 0};        ///< its send buffer
  Begin recv{BufferId::recv, 0};        ///< its receive buffer
  /// Its pipelines are cut into segments of this many bytes at most.
  std::size_t most_segment_bytes = static_cast<std::size_t>(-1);
};

/// Builds a schedule. Operations go into the current round until round() opens the next one.
///
/// A slot tells messages between the same two ranks apart: all messages of one direction in a round have different
/// slots. Messages of different rounds may share a slot if the receiver posts their receives in the order in which they
/// are sent. Different slots are better: they also tell one-sided and early messages apart.
class FAB_API ScheduleBuilder {
 public:
  /// `name` is the call that the schedule carries out, for instance "neighbor_xchg"; messages and drawings show it.
  /// `ranks` is the size of the communicator.
  ScheduleBuilder(std::string_view name, int ranks);

  /// Declares that `buffer` has `bytes` bytes from its address on. Commit then checks blocks against this size.
  void declare(BufferId buffer, std::size_t bytes);
  /// Reserves `bytes` bytes of scratch and returns their offset.
  std::ptrdiff_t scratch(std::size_t bytes);

  /// Adds a message from the block to rank `to`.
  void send(Rank to, std::uint32_t slot, Block block);
  /// Adds the receive of a message of rank `from` into the block.
  void recv(Rank from, std::uint32_t slot, Block block);
  /// Adds a copy. The blocks are the same or do not overlap. If their sizes differ, the run fails like a message to the
  /// rank itself: Errc::truncated if the first is longer, otherwise Errc::mismatch.
  void copy(Block from, Block to);
  /// A copy that stays an operation of its own: copies with different slots are not joined.
  void copy(std::uint32_t slot, Block from, Block to);
  /// into = from op into, element by element; `from` is from the lower ranks. The blocks are contiguous, have the same
  /// size and do not overlap. `element_bytes` is the size of the type, or the size that ReduceOp::user is given.
  void reduce(Reduction reduction, std::size_t element_bytes, Block from, Block into);
  /// Ends the current round and opens the next one.
  void round();

  /// The current round and the following ones, up to end_pipeline() or commit, work on one vector of `bytes` bytes.
  /// Each of their blocks is contiguous and holds the whole vector, each message has slot 0, and a round has at most
  /// one message to and one from each peer. Commit may cut the vector into segments of whole `grain`s; segment j then
  /// does in round i + j what the vector would do in round i. The cuts depend only on `bytes`, `grain` and
  /// CommitOptions::segment_bytes. The messages of a pipeline go in one direction: none comes back to its rank through
  /// other ranks. Pipelines follow each other; they do not overlap.
  void begin_pipeline(std::size_t bytes, std::size_t grain);
  /// Ends the pipeline and opens a new round.
  void end_pipeline();

  /// Adds the rounds of a part, in which some of the ranks do what its schedule says: its ranks become ranks of this
  /// schedule, its buffers parts of this one's, and its scratch comes behind what is reserved. The part starts and ends
  /// with a round of its own. Throws Error(invalid_schedule) if the part names a peer that is none of its ranks.
  void append(const ScheduleBuilder& part, const PartPlace& place);

  /// Validates, combines and freezes. Throws Error(invalid_schedule), naming round, operation and fault: a peer outside
  /// the communicator, a block outside its declared buffer or outside scratch, two messages of a round to one peer with
  /// the same slot, a copy between blocks that overlap in part, an undefined reduction, a pipeline that breaks the
  /// rules of begin_pipeline. Drops empty rounds, and merges contiguous copies that continue each other.
  [[nodiscard]] Schedule commit(const CommitOptions& options = {}) const;

 private:
  struct Operation {
    OperationKind kind;
    Rank peer;
    std::vector<std::uint32_t> slots;  ///< one per block
    std::vector<Block> blocks;
    Reduction reduction{};
    std::size_t element_bytes = 0;
  };
  using Round = std::vector<Operation>;
  /// Rounds [first_round, end_round); 0: up to the last one.
  struct Pipeline {
    std::size_t first_round = 0;
    std::size_t end_round = 0;
    std::size_t bytes = 0;
    std::size_t grain = 1;
    std::uint32_t slot = 0;  ///< of its messages; segments take this one and those behind
    std::size_t most_segment_bytes = static_cast<std::size_t>(-1);
  };

  /// Where an operation stands, for error messages.
  struct Place {
    std::size_t round;
    std::size_t operation;
    OperationKind kind;
  };

  void validate() const;
  void check(const Operation& operation, const Place& place) const;
  void check(const Block& block, const Place& place) const;
  void check_copy(const Operation& operation, const Place& place) const;
  void check_reduce(const Operation& operation, const Place& place) const;
  void check(const Pipeline& pipeline) const;
  [[noreturn]] void refuse(const Place& place, const std::string& fault) const;
  [[noreturn]] void refuse(const std::string& where, const std::string& fault) const;
  [[nodiscard]] Operation placed(Operation operation, const PartPlace& place, std::ptrdiff_t scratch) const;
  [[nodiscard]] std::size_t end_of(const Pipeline& pipeline) const noexcept;
  [[nodiscard]] std::vector<Round> segmented(std::size_t segment_bytes) const;
  [[nodiscard]] std::vector<Round> segmented(const Pipeline& pipeline, std::size_t segment_bytes) const;
  [[nodiscard]] static Round combine(const Round& round, const CommitOptions& options);
  [[nodiscard]] static Round merge_copies(Round round);

  std::string name_;
  int ranks_;
  std::size_t scratch_bytes_ = 0;
  std::vector<std::pair<BufferId, std::size_t>> declared_;
  std::vector<Round> rounds_{1};
  std::vector<Pipeline> pipelines_;  ///< by their rounds
};

/// The buffer as text: "send", "recv", "scratch"; "user0" for user_buffer(0).
[[nodiscard]] FAB_API std::string to_string(BufferId buffer);
/// The enumerator as text: "send".
[[nodiscard]] FAB_API std::string_view to_string(OperationKind kind) noexcept;

}  // namespace fab
