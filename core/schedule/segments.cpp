// Pipelines: a vector in segments, each of which does one round later what the one before it does (Hoefler and
// Lumsdaine, LibNBC, name this as what a schedule allows and their library leaves to its users).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fab/schedule.h"

namespace fab {

namespace {

/// As many as there are slots: they tell the segments apart.
constexpr std::size_t kMostSegments = 256;

constexpr std::size_t divide_up(std::size_t a, std::size_t b) noexcept { return (a + b - 1) / b; }

}  // namespace

void ScheduleBuilder::begin_pipeline(std::size_t bytes, std::size_t grain) {
  pipeline_ = {
      .first_round = rounds_.size() - 1, .end_round = 0, .bytes = bytes, .grain = std::max<std::size_t>(grain, 1)};
}

void ScheduleBuilder::end_pipeline() {
  pipeline_.end_round = rounds_.size();
  round();
}

void ScheduleBuilder::check_pipeline() const {
  std::set<std::pair<OperationKind, Rank>> messages;
  const std::size_t end = pipeline_.end_round > 0 ? pipeline_.end_round : rounds_.size();
  for (std::size_t r = pipeline_.first_round; r < end; ++r) {
    for (const Operation& operation : rounds_[r]) {
      const std::string where = fmt::format("round {}, in a pipeline, {}", r, fab::to_string(operation.kind));
      for (const Block& block : operation.blocks)
        if (!block.layout.is_contiguous() || block.layout.size() != pipeline_.bytes)
          refuse(where, fmt::format("a block of {} bytes, which must be all {} of the vector, in one piece",
                                    block.layout.size(), pipeline_.bytes));
      if (!is_message(operation.kind)) continue;
      if (operation.slots.front() != 0) refuse(where, fmt::format("slot {}; 0 is needed", operation.slots.front()));
      if (!messages.emplace(operation.kind, operation.peer).second)
        refuse(where, fmt::format("a second message with peer {}", operation.peer));
    }
  }
}

std::vector<ScheduleBuilder::Round> ScheduleBuilder::segmented(std::size_t segment_bytes) const {
  if (segment_bytes == 0 || pipeline_.bytes <= segment_bytes) return rounds_;
  const std::size_t least = std::max(segment_bytes, divide_up(pipeline_.bytes, kMostSegments));
  const std::size_t step = divide_up(least, pipeline_.grain) * pipeline_.grain;
  const std::size_t segments = divide_up(pipeline_.bytes, step);
  const auto part = [&](Operation operation, std::size_t segment) {
    const std::size_t first = segment * step;
    const std::size_t bytes = std::min(step, pipeline_.bytes - first);
    for (Block& block : operation.blocks)
      block = {block.buffer, block.offset + block.layout.true_lower_bound() + static_cast<std::ptrdiff_t>(first),
               Layout::contiguous(bytes)};
    if (is_message(operation.kind)) operation.slots.front() = static_cast<std::uint32_t>(segment);
    return operation;
  };

  const std::size_t begin = pipeline_.first_round;
  const std::size_t end = pipeline_.end_round > 0 ? pipeline_.end_round : rounds_.size();
  std::vector<Round> result(rounds_.begin(), rounds_.begin() + static_cast<std::ptrdiff_t>(begin));
  result.resize(end + segments - 1);
  for (std::size_t r = begin; r < end; ++r)
    for (std::size_t segment = 0; segment < segments; ++segment)
      for (const Operation& operation : rounds_[r]) result[r + segment].push_back(part(operation, segment));
  result.insert(result.end(), rounds_.begin() + static_cast<std::ptrdiff_t>(end), rounds_.end());
  return result;
}

}  // namespace fab
