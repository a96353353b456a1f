// A reduce-scatter in one step: every rank sends to each other rank that rank's part of its vector, and combines its
// own part of all vectors in the order of ranks. Any operation. P - 1 messages, and room for P - 1 parts.
#pragma once

#include <vector>

#include "collectives/building_blocks/vector.h"
#include "collectives/calls/call.h"

namespace fab::collectives {

template <class AnyParts>
class CombinedParts {
 public:
  /// `own` is this rank's vector.
  CombinedParts(ScheduleBuilder& builder, const CollectiveCall& call, const AnyParts& parts, const Vector& own)
      : builder_(builder), call_(call), parts_(parts), own_(own) {}

  /// Adds the rounds that leave this rank's part of the result in `into`, which may be its part of `own`, and overlaps
  /// no other. The last one is open.
  void combine_to(const Vector& into) {
    if (into.bytes > 0) receive(into);
    send();
    builder_.round();
    for (std::size_t i = 1; i < versions_.size(); ++i)
      builder_.reduce(call_.operation.reduction, call_.operation.element_bytes, versions_[i - 1].block(),
                      versions_[i].block());
    if (into.bytes > 0) unpack(builder_, versions_.back(), into.block());
  }

 private:
  [[nodiscard]] Vector own_part() const {
    const Block part = parts_.of(own_, call_.rank);
    return {part.buffer, part.offset, part.layout.size()};
  }

  // The result lies in the last version. The first one is only read.
  void receive(const Vector& into) {
    const Vector own = own_part();
    for (Rank owner = 0; owner < call_.ranks; ++owner) {
      const bool is_first = owner == 0;
      const bool is_last = owner + 1 == call_.ranks;
      if (owner == call_.rank) {
        versions_.push_back(is_first || own == into ? own : is_last ? into : scratch_vector(builder_, into.bytes));
        if (versions_.back() != own) builder_.copy(own.block(), versions_.back().block());
      } else {
        versions_.push_back(is_last && own != into ? into : scratch_vector(builder_, into.bytes));
        builder_.recv(owner, 0, versions_.back().block());
      }
    }
  }

  // Each rank begins with the next one, so that not all send to the same at once.
  void send() {
    for (int distance = 1; distance < call_.ranks; ++distance) {
      const Rank to = (call_.rank + distance) % call_.ranks;
      const Block part = parts_.of(own_, to);
      if (part.layout.size() > 0) builder_.send(to, 0, part);
    }
  }

  ScheduleBuilder& builder_;
  const CollectiveCall& call_;
  const AnyParts& parts_;
  const Vector own_;
  std::vector<Vector> versions_;  ///< of this rank's part, by ranks
};

}  // namespace fab::collectives
