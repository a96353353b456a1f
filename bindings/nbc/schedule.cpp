#include "bindings/nbc/schedule.h"

#include <fmt/core.h>

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "bindings/mpi/base/failure.h"
#include "fab/error.h"

namespace fab::nbc {

namespace {

constexpr std::uint32_t kSlots = 256;

[[noreturn]] void refuse(const std::string& fault) { throw Error(Errc::invalid_schedule, fault); }

void check_peer(const char* name, Rank peer) {
  if (peer < 0)
    throw mpi::Failure(MPI_ERR_RANK, fmt::format("{} is {}; valid are ranks and MPI_PROC_NULL", name, peer));
}

/// Makes fab's operations of the user's.
class ScheduleWriter {
 public:
  ScheduleWriter(Rank self, int ranks) : self_(self), builder_("NBC_Start", ranks) {}

  void write(const std::vector<ScheduledOperation>& round) {
    for (const ScheduledOperation& operation : round) write(operation);
    match_own();
    builder_.round();
  }
  [[nodiscard]] Schedule commit() const {
    if (!own_sends_.empty())
      refuse(fmt::format("this rank sends itself {} messages that it never receives", own_sends_.size()));
    return builder_.commit();
  }

  // The steps of combinations.
  Block scratch(std::size_t bytes) { return {BufferId::scratch, builder_.scratch(bytes), Layout::contiguous(bytes)}; }
  void copy(const Block& from, const Block& to) { builder_.copy(from, to); }
  void reduce(const mpi::Reducer& reducer, const Block& from, const Block& into) {
    builder_.reduce(reducer.reduction, reducer.element_bytes, from, into);
  }

 private:
  void write(const ScheduledOperation& operation) {
    switch (operation.kind) {
      case OperationKind::send:
        if (operation.peer == self_) return own_sends_.push_back(operation.from);
        return builder_.send(operation.peer, next_slot(sends_, operation.peer), operation.from);
      case OperationKind::recv:
        if (operation.peer == self_) return own_receives_.push_back(operation.to);
        return builder_.recv(operation.peer, next_slot(receives_, operation.peer), operation.to);
      case OperationKind::copy:
        return builder_.copy(operation.from, operation.to);
      case OperationKind::reduce:
        return combine(*this, *operation.combination);
    }
  }

  /// Messages to oneself are copies; those that are received in a later round are kept.
  void match_own() {
    for (const Block& to : own_receives_) {
      if (own_sends_.empty()) refuse("a message from this rank itself is received in a round before it is sent");
      builder_.copy(own_sends_.front(), to);
      own_sends_.pop_front();
    }
    own_receives_.clear();
    for (Block& block : own_sends_)
      if (block.buffer != BufferId::scratch) {
        const Block kept = scratch(block.layout.size());
        builder_.copy(block, kept);
        block = kept;
      }
  }

  static std::uint32_t next_slot(std::map<Rank, std::uint32_t>& counts, Rank peer) { return counts[peer]++ % kSlots; }

  Rank self_;
  ScheduleBuilder builder_;
  std::map<Rank, std::uint32_t> sends_;
  std::map<Rank, std::uint32_t> receives_;
  std::deque<Block> own_sends_;  ///< not yet received
  std::vector<Block> own_receives_;
};

}  // namespace

void UserSchedule::check_open() const {
  if (committed_) refuse("the schedule is committed already");
}

void UserSchedule::add(ScheduledOperation operation) {
  check_open();
  rounds_.back().push_back(std::move(operation));
}

void UserSchedule::send(Rank to, Block block) {
  if (to == MPI_PROC_NULL) return check_open();
  check_peer("dest", to);
  add({.kind = OperationKind::send, .peer = to, .from = std::move(block)});
}

void UserSchedule::recv(Rank from, Block block) {
  if (from == MPI_PROC_NULL) return check_open();
  check_peer("source", from);
  add({.kind = OperationKind::recv, .peer = from, .to = std::move(block)});
}

void UserSchedule::copy(Block from, Block to) {
  check_copy(from, to);
  add({.kind = OperationKind::copy, .from = std::move(from), .to = std::move(to)});
}

void UserSchedule::combine(Combination combination) {
  if (combination.target.layout.size() == 0) return check_open();
  const auto operation = combination.reducer.operation;
  add({.kind = OperationKind::reduce, .combination = std::make_shared<const Combination>(std::move(combination))});
  if (operation != nullptr) user_operations_.push_back(operation);
}

void UserSchedule::barrier() {
  check_open();
  rounds_.emplace_back();
}

void UserSchedule::commit() {
  check_open();
  committed_ = true;
}

void UserSchedule::apply(std::size_t index, const void* in, void* inout, std::size_t elements) {
  const core::MutexLock lock(applying_);
  mpi::UserOperation::apply(user_operations_[index].get(), in, inout, elements);
}

Schedule UserSchedule::build(Rank self, int ranks) const {
  ScheduleWriter writer(self, ranks);
  for (const auto& round : rounds_) writer.write(round);
  return writer.commit();
}

}  // namespace fab::nbc
