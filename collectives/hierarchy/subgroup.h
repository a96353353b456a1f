// Some ranks of a communicator, as all ranks of a step: algorithms are composed of such steps, each of them another
// algorithm that knows of no other ranks.
#pragma once

#include <functional>

#include "collectives/building_blocks/vector.h"
#include "collectives/calls/call.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// Ranks are numbered anew, from 0 on. The rules of the call choose the algorithm of each step, so all ranks of the
/// subgroup, which take its steps in the same order, choose the same.
class Subgroup {
 public:
  struct Ranks {
    int count = 1;
    int self = 0;  ///< the number of this rank
    std::function<Rank(int)> rank_of{};
    bool one_node = false;
    int at_once = 1;  ///< subgroups that share a node's network: rules see the bytes of all
  };

  /// Adds its steps to the schedule of a call. Both outlive this.
  Subgroup(ScheduleBuilder& builder, const CollectiveCall& call, Ranks ranks)
      : builder_(builder), call_(call), ranks_(std::move(ranks)) {}

  [[nodiscard]] int ranks() const noexcept { return ranks_.count; }
  [[nodiscard]] int self() const noexcept { return ranks_.self; }

  void barrier();
  void bcast(int root, const Vector& data);
  /// To the `result` of the root, which others need not have. Reductions are by the operation of the call.
  void reduce(int root, const Vector& own, const Vector& result);
  void allreduce(const Vector& own, const Vector& result);
  void scan(const Vector& own, const Vector& result);
  /// Leaves the result of number 0 as it is.
  void exscan(const Vector& own, const Vector& result);

  /// Any other one. The step has what the call is about, and the blocks; they lie in buffers that begin there.
  void perform(CollectiveCall step, const PartPlace::Begin& send, const PartPlace::Begin& recv);

 private:
  void perform(Collective collective, int root, const Vector& own, const Vector& result);

  ScheduleBuilder& builder_;
  const CollectiveCall& call_;
  const Ranks ranks_;
  std::uint32_t steps_ = 0;
};

}  // namespace fab::collectives
