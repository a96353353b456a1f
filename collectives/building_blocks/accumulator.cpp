#include "collectives/building_blocks/accumulator.h"

#include <utility>

namespace fab::collectives {

const Vector& Accumulator::scratch() {
  if (scratch_.bytes == 0) scratch_ = scratch_vector(builder_, result_.bytes);
  return scratch_;
}

const Vector& Accumulator::room() { return value_ == result_ ? scratch() : result_; }

void Accumulator::reduce(const Vector& from, const Vector& into, std::size_t first, std::size_t bytes) {
  builder_.reduce(call_.operation.reduction, call_.operation.element_bytes, from.part(first, bytes),
                  into.part(first, bytes));
}

void Accumulator::combine(bool received_is_lower, std::size_t first, std::size_t bytes) {
  const Vector received = room();
  if (owned_ && (received_is_lower || call_.operation.commutative)) return reduce(received, value_, first, bytes);
  if (!received_is_lower || call_.operation.commutative) {
    reduce(value_, received, first, bytes);
    value_ = received;
  } else {
    builder_.copy(value_.part(first, bytes), scratch().part(first, bytes));
    reduce(received, scratch_, first, bytes);
    value_ = scratch_;
  }
  owned_ = true;
}

void Accumulator::finish() {
  if (value_ == result_) return;
  builder_.copy(value_.block(), result_.block());
  value_ = result_;
}

}  // namespace fab::collectives
