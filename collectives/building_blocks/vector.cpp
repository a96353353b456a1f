#include "collectives/building_blocks/vector.h"

namespace fab::collectives {

namespace {

Vector in_place(const Block& block) {
  return {block.buffer, block.offset + block.layout.true_lower_bound(), block.layout.size()};
}

}  // namespace

Vector scratch_vector(ScheduleBuilder& builder, std::size_t bytes) {
  return {BufferId::scratch, builder.scratch(bytes), bytes};
}

Vector packed(ScheduleBuilder& builder, const Block& block) {
  if (block.layout.is_contiguous()) return in_place(block);
  const Vector copy = scratch_vector(builder, block.layout.size());
  builder.copy(block, copy.block());
  builder.round();
  return copy;
}

Vector room_for(ScheduleBuilder& builder, const Block& block) {
  return block.layout.is_contiguous() ? in_place(block) : scratch_vector(builder, block.layout.size());
}

void unpack(ScheduleBuilder& builder, const Vector& vector, const Block& block) {
  if (!block.layout.is_contiguous() || in_place(block) != vector) builder.copy(vector.block(), block);
}

}  // namespace fab::collectives
