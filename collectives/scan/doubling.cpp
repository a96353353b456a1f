#include "collectives/scan/doubling.h"

#include <utility>

#include "collectives/building_blocks/vector.h"

namespace fab::collectives {

namespace {

/// One rank's two values on their way.
class Doubling {
 public:
  Doubling(ScheduleBuilder& builder, const CollectiveCall& call, Prefix prefix)
      : builder_(builder),
        call_(call),
        block_(packed(builder, call.input())),
        received_(scratch_vector(builder, call.bytes)),
        prefix_(room_for(builder, call.output())),
        has_prefix_(prefix == Prefix::inclusive) {
    const Vector own = std::exchange(block_, scratch_vector(builder, call.bytes));
    builder_.copy(own.block(), block_.block());
    if (has_prefix_ && own != prefix_) builder_.copy(own.block(), prefix_.block());
    builder_.round();
  }

  /// The partner is in the block of ranks below; ours is of use to it, and both together to others, unless last.
  void meet_lower(Rank partner, bool last) {
    const Vector& room = has_prefix_ ? received_ : prefix_;
    builder_.recv(partner, 0, room.block());
    if (!last) builder_.send(partner, 0, block_.block());
    builder_.round();
    if (has_prefix_) reduce(received_, prefix_);
    if (!last) reduce(room, block_);
    has_prefix_ = true;
    builder_.round();
  }

  /// The partner is in the block of ranks above.
  void meet_higher(Rank partner, bool last) {
    if (!last) builder_.recv(partner, 0, received_.block());
    builder_.send(partner, 0, block_.block());
    builder_.round();
    if (last) return;
    reduce(block_, received_);
    std::swap(block_, received_);
    builder_.round();
  }

  void finish() {
    if (has_prefix_) unpack(builder_, prefix_, call_.output());
  }

 private:
  void reduce(const Vector& from, const Vector& into) {
    builder_.reduce(call_.operation.reduction, call_.operation.element_bytes, from.block(), into.block());
  }

  ScheduleBuilder& builder_;
  const CollectiveCall& call_;
  Vector block_;     ///< the ranks of this rank's block, combined
  Vector received_;  ///< room
  Vector prefix_;
  bool has_prefix_;
};

}  // namespace

void scan_doubling(ScheduleBuilder& builder, const CollectiveCall& call, Prefix prefix) {
  Doubling doubling(builder, call, prefix);
  for (std::int64_t bit = 1; bit < call.ranks; bit *= 2) {
    const std::int64_t partner = call.rank ^ bit;
    if (partner >= call.ranks) continue;
    const bool last = (call.rank / (2 * bit) + 1) * 2 * bit >= call.ranks;  // no rank is above both blocks
    if (partner < call.rank)
      doubling.meet_lower(static_cast<Rank>(partner), last);
    else
      doubling.meet_higher(static_cast<Rank>(partner), last);
  }
  doubling.finish();
}

}  // namespace fab::collectives
