// The blocks of all ranks in the receive buffer of a gather.
#pragma once

#include "collectives/calls/call.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// What this rank contributes to a gather or an allgather.
[[nodiscard]] inline Block own_block(const CollectiveCall& call) {
  return call.in_place ? call.recv[static_cast<std::size_t>(call.rank)].in(BufferId::recv)
                       : call.send[0].in(BufferId::send);
}

class Gathered {
 public:
  /// Copies this rank's own block to its place, in the current round, if it is not there.
  Gathered(ScheduleBuilder& builder, const CollectiveCall& call) : call_(call) {
    if (!call.in_place) builder.copy(own_block(call), room(call.rank));
  }

  /// Where to receive the blocks of `count` ranks from `first` on; rank 0 follows the last one.
  [[nodiscard]] Block room(int first, int count = 1) const { return call_.recv.range(BufferId::recv, first, count); }
  /// The blocks of room(first, count) once they are there, to be sent: this rank's own alone does not wait for the
  /// copy.
  [[nodiscard]] Block held(int first, int count = 1) const {
    return count == 1 && first == call_.rank ? own_block(call_) : room(first, count);
  }

 private:
  const CollectiveCall& call_;
};

}  // namespace fab::collectives
