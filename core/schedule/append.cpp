// Composition: parts that were built by themselves become rounds of one schedule.
#include <fmt/core.h>

#include <algorithm>

#include "core/schedule/slot_count.h"
#include "fab/schedule.h"

namespace fab {

namespace {

/// Null: a buffer that keeps its name.
const PartPlace::Begin* begin_of(BufferId buffer, const PartPlace& place, const PartPlace::Begin& scratch) {
  switch (buffer) {
    case BufferId::send:
      return &place.send;
    case BufferId::recv:
      return &place.recv;
    case BufferId::scratch:
      return &scratch;
    default:
      return nullptr;
  }
}

}  // namespace

ScheduleBuilder::Operation ScheduleBuilder::placed(Operation operation, const PartPlace& place,
                                                   std::ptrdiff_t scratch) const {
  const PartPlace::Begin its_scratch{BufferId::scratch, scratch};
  for (Block& block : operation.blocks)
    if (const PartPlace::Begin* begin = begin_of(block.buffer, place, its_scratch)) {
      block.buffer = begin->buffer;
      block.offset += begin->offset;
    }
  if (!is_message(operation.kind)) return operation;
  if (operation.peer < 0 || operation.peer >= ranks_)
    refuse(fmt::format("as a part, {}", fab::to_string(operation.kind)),
           fmt::format("peer {} is not one of the {} ranks", operation.peer, ranks_));
  if (place.rank_of) operation.peer = place.rank_of(operation.peer);
  for (std::uint32_t& slot : operation.slots) slot = (slot + place.first_slot) % kSlotCount;
  return operation;
}

void ScheduleBuilder::append(const ScheduleBuilder& part, const PartPlace& place) {
  if (!rounds_.back().empty()) round();
  const std::size_t first = rounds_.size() - 1;
  for (Pipeline pipeline : part.pipelines_) {
    pipeline.first_round += first;
    pipeline.end_round = first + part.end_of(pipeline);
    pipeline.slot = (pipeline.slot + place.first_slot) % kSlotCount;
    pipeline.most_segment_bytes = std::min(pipeline.most_segment_bytes, place.most_segment_bytes);
    pipelines_.push_back(pipeline);
  }
  const std::ptrdiff_t its_scratch = scratch(part.scratch_bytes_);
  for (const Round& each : part.rounds_) {
    for (const Operation& operation : each) rounds_.back().push_back(part.placed(operation, place, its_scratch));
    round();
  }
}

}  // namespace fab
