// A rank's value while other ranks' vectors are combined with it, in order, without copies where there need be none.
#pragma once

#include "collectives/building_blocks/vector.h"
#include "collectives/calls/call.h"

namespace fab::collectives {

/// The value is the rank's own vector at first, which is only read unless it lies where the result shall be; then it
/// moves between the result and scratch. Works on a part of the vectors as well, if all calls name the same part, or
/// ever smaller ones.
class Accumulator {
 public:
  Accumulator(ScheduleBuilder& builder, const CollectiveCall& call, const Vector& own, const Vector& result)
      : builder_(builder), call_(call), value_(own), result_(result), owned_(own == result) {}

  /// Where the value is. Valid until the next call.
  [[nodiscard]] const Vector& value() const noexcept { return value_; }
  /// Where to receive the next vector, which is neither the value nor sent at the moment.
  [[nodiscard]] const Vector& room();
  /// The value becomes the combination with the `bytes` bytes from `first` on of what was received to room(), from
  /// ranks that are all lower, or all higher, than those of the value. In the current round, which must be another one
  /// than that of the receive.
  void combine(bool received_is_lower, std::size_t first, std::size_t bytes);
  void combine(bool received_is_lower) { combine(received_is_lower, 0, value_.bytes); }
  /// Moves the value to the result, in the current round, if it is not there.
  void finish();

 private:
  [[nodiscard]] const Vector& scratch();
  void reduce(const Vector& from, const Vector& into, std::size_t first, std::size_t bytes);

  ScheduleBuilder& builder_;
  const CollectiveCall& call_;
  Vector value_;
  Vector result_;
  Vector scratch_;
  bool owned_;  ///< the value may be overwritten
};

}  // namespace fab::collectives
