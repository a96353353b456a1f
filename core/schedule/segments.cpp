// Pipelines: a vector in segments, each of which does one round later what the one before it does (Hoefler and
// Lumsdaine, LibNBC, name this as what a schedule allows and their library leaves to its users).
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/schedule/slot_count.h"
#include "fab/schedule.h"

namespace fab {

namespace {

constexpr std::size_t divide_up(std::size_t a, std::size_t b) noexcept { return (a + b - 1) / b; }

}  // namespace

void ScheduleBuilder::begin_pipeline(std::size_t bytes, std::size_t grain) {
  Pipeline pipeline;
  pipeline.first_round = rounds_.size() - 1;
  pipeline.bytes = bytes;
  pipeline.grain = std::max<std::size_t>(grain, 1);
  pipelines_.push_back(pipeline);
}

void ScheduleBuilder::end_pipeline() {
  pipelines_.back().end_round = rounds_.size();
  round();
}

std::size_t ScheduleBuilder::end_of(const Pipeline& pipeline) const noexcept {
  return pipeline.end_round > 0 ? pipeline.end_round : rounds_.size();
}

void ScheduleBuilder::check(const Pipeline& pipeline) const {
  std::set<std::pair<OperationKind, Rank>> messages;
  for (std::size_t r = pipeline.first_round; r < end_of(pipeline); ++r) {
    for (const Operation& operation : rounds_[r]) {
      const std::string where = fmt::format("round {}, in a pipeline, {}", r, fab::to_string(operation.kind));
      for (const Block& block : operation.blocks)
        if (!block.layout.is_contiguous() || block.layout.size() != pipeline.bytes)
          refuse(where, fmt::format("a block of {} bytes, which must be all {} of the vector, in one piece",
                                    block.layout.size(), pipeline.bytes));
      if (!is_message(operation.kind)) continue;
      if (operation.slots.front() != pipeline.slot)
        refuse(where, fmt::format("slot {}; {} is needed", operation.slots.front(), pipeline.slot));
      if (!messages.emplace(operation.kind, operation.peer).second)
        refuse(where, fmt::format("a second message with peer {}", operation.peer));
    }
  }
}

std::vector<ScheduleBuilder::Round> ScheduleBuilder::segmented(const Pipeline& pipeline,
                                                               std::size_t segment_bytes) const {
  // Slots tell segments apart, so there are no more of these.
  const std::size_t least = std::max(segment_bytes, divide_up(pipeline.bytes, kSlotCount));
  const std::size_t step = divide_up(least, pipeline.grain) * pipeline.grain;
  const std::size_t segments = divide_up(pipeline.bytes, step);
  const auto part = [&](Operation operation, std::size_t segment) {
    const std::size_t first = segment * step;
    const std::size_t bytes = std::min(step, pipeline.bytes - first);
    for (Block& block : operation.blocks)
      block = {block.buffer, block.offset + block.layout.true_lower_bound() + static_cast<std::ptrdiff_t>(first),
               Layout::contiguous(bytes)};
    if (is_message(operation.kind))
      operation.slots.front() = static_cast<std::uint32_t>((pipeline.slot + segment) % kSlotCount);
    return operation;
  };

  std::vector<Round> result(end_of(pipeline) - pipeline.first_round + segments - 1);
  for (std::size_t r = pipeline.first_round; r < end_of(pipeline); ++r)
    for (std::size_t segment = 0; segment < segments; ++segment)
      for (const Operation& operation : rounds_[r])
        result[r - pipeline.first_round + segment].push_back(part(operation, segment));
  return result;
}

std::vector<ScheduleBuilder::Round> ScheduleBuilder::segmented(std::size_t segment_bytes) const {
  std::vector<Round> result;
  std::size_t next = 0;
  const auto take_until = [&](std::size_t end) {
    for (; next < end; ++next) result.push_back(rounds_[next]);
  };
  for (const Pipeline& pipeline : pipelines_) {
    const std::size_t most = std::min(segment_bytes, pipeline.most_segment_bytes);
    if (most == 0 || pipeline.bytes <= most) continue;
    take_until(pipeline.first_round);
    for (Round& round : segmented(pipeline, most)) result.push_back(std::move(round));
    next = end_of(pipeline);
  }
  take_until(rounds_.size());
  return result;
}

}  // namespace fab
