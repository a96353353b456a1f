// Schedules that users build: the objects that NBC_Schedule points to.
#pragma once

#include <memory>
#include <vector>

#include "bindings/mpi/datatypes/user_operation.h"
#include "bindings/nbc/combine.h"
#include "core/base/mutex.h"

namespace fab::nbc {

/// One operation of such a schedule.
struct ScheduledOperation {
  OperationKind kind;
  Rank peer = MPI_PROC_NULL;
  Block from{};
  Block to{};
  std::shared_ptr<const Combination> combination{};  ///< of a reduce
};

/// The operations of one rank. Which rank, of how many, is known when it starts.
class UserSchedule {
 public:
  void send(Rank to, Block block);
  void recv(Rank from, Block block);
  /// Throws Failure(MPI_ERR_COUNT) for different sizes.
  void copy(Block from, Block to);
  void combine(Combination combination);
  void barrier();
  void commit();
  [[nodiscard]] bool committed() const noexcept { return committed_; }

  /// For a run whose buffers begin at address 0. Throws Error(invalid_schedule) for ranks outside the communicator, too
  /// many messages of a round to one peer, and messages to oneself that are not sent before they are received.
  [[nodiscard]] Schedule build(Rank self, int ranks) const;

  /// Applies number `index` of the user's operations that build() makes reductions of, in the order in which a run does
  /// them. One thread at a time.
  void apply(std::size_t index, const void* in, void* inout, std::size_t elements) FAB_EXCLUDES(applying_);

 private:
  void check_open() const;
  void add(ScheduledOperation operation);

  std::vector<std::vector<ScheduledOperation>> rounds_{1};
  std::vector<std::shared_ptr<mpi::UserOperation>> user_operations_;
  bool committed_ = false;
  core::Mutex applying_;  ///< each operation serves one reduction at a time
};

}  // namespace fab::nbc

struct fab_nbc_schedule : fab::nbc::UserSchedule {
  int handles = 0;  ///< that own it; see start.cpp
};
