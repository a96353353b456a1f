// Building, validating and optimising a schedule before it is frozen.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/schedule/freeze.h"
#include "fab/error.h"

namespace fab {

namespace {

std::size_t payload(const std::vector<Block>& blocks) {
  std::size_t bytes = 0;
  for (const Block& block : blocks) bytes += block.layout.size();
  return bytes;
}

struct Range {
  std::ptrdiff_t begin;
  std::ptrdiff_t end;
};

Range byte_range(const Block& block) {
  return {block.offset + block.layout.true_lower_bound(), block.offset + block.layout.true_upper_bound()};
}

bool overlap(const Block& a, const Block& b) {
  const Range x = byte_range(a);
  const Range y = byte_range(b);
  return a.buffer == b.buffer && x.begin < y.end && y.begin < x.end;
}

bool continues(const Block& last, const Block& next) {
  return last.buffer == next.buffer && last.layout.is_contiguous() && next.layout.is_contiguous() &&
         byte_range(last).end == byte_range(next).begin;
}

Block joined(const Block& last, const Block& next) {
  return {last.buffer, byte_range(last).begin, Layout::contiguous(last.layout.size() + next.layout.size())};
}

}  // namespace

void ScheduleBuilder::refuse(const std::string& where, const std::string& fault) const {
  throw Error(Errc::invalid_schedule, fmt::format("commit of schedule '{}': {}: {}", name_, where, fault));
}

void ScheduleBuilder::refuse(const Place& place, const std::string& fault) const {
  refuse(fmt::format("round {}, operation {} ({})", place.round, place.operation, to_string(place.kind)), fault);
}

ScheduleBuilder::ScheduleBuilder(std::string_view name, int ranks) : name_(name), ranks_(ranks) {}

void ScheduleBuilder::declare(BufferId buffer, std::size_t bytes) { declared_.emplace_back(buffer, bytes); }

std::ptrdiff_t ScheduleBuilder::scratch(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t offset = scratch_bytes_;
  scratch_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return static_cast<std::ptrdiff_t>(offset);
}

void ScheduleBuilder::send(Rank to, std::uint32_t slot, Block block) {
  rounds_.back().push_back({OperationKind::send, to, {slot}, {std::move(block)}});
}

void ScheduleBuilder::recv(Rank from, std::uint32_t slot, Block block) {
  rounds_.back().push_back({OperationKind::recv, from, {slot}, {std::move(block)}});
}

void ScheduleBuilder::copy(Block from, Block to) { copy(0, std::move(from), std::move(to)); }

void ScheduleBuilder::copy(std::uint32_t slot, Block from, Block to) {
  rounds_.back().push_back({OperationKind::copy, 0, {slot, slot}, {std::move(from), std::move(to)}});
}

void ScheduleBuilder::reduce(Reduction reduction, std::size_t element_bytes, Block from, Block into) {
  rounds_.back().push_back(
      {OperationKind::reduce, 0, {0, 0}, {std::move(from), std::move(into)}, reduction, element_bytes});
}

void ScheduleBuilder::round() { rounds_.emplace_back(); }

void ScheduleBuilder::check(const Block& block, const Place& place) const {
  const Range range = byte_range(block);
  const auto check_against = [&](std::size_t bytes) {
    if (range.begin < 0 || range.end > static_cast<std::ptrdiff_t>(bytes))
      refuse(place, fmt::format("block of bytes [{}, {}) outside buffer '{}' of {} bytes", range.begin, range.end,
                                to_string(block.buffer), bytes));
  };
  if (block.layout.size() == 0) return;
  if (block.buffer == BufferId::scratch) check_against(scratch_bytes_);
  for (const auto& [buffer, bytes] : declared_)
    if (buffer == block.buffer) check_against(bytes);
}

void ScheduleBuilder::check(const Operation& operation, const Place& place) const {
  for (const Block& block : operation.blocks) check(block, place);
  if (operation.kind == OperationKind::copy) return check_copy(operation, place);
  if (operation.kind == OperationKind::reduce) return check_reduce(operation, place);
  if (operation.peer < 0 || operation.peer >= ranks_)
    refuse(place, fmt::format("peer {} is not one of the {} ranks", operation.peer, ranks_));
}

void ScheduleBuilder::check_copy(const Operation& operation, const Place& place) const {
  const Block& from = operation.blocks[0];
  const Block& to = operation.blocks[1];
  const bool same = from.buffer == to.buffer && from.offset == to.offset && from.layout == to.layout;
  if (!same && overlap(from, to) && from.layout.is_contiguous() && to.layout.is_contiguous())
    refuse(place, "source and destination overlap in part");
}

void ScheduleBuilder::check_reduce(const Operation& operation, const Place& place) const {
  const Block& from = operation.blocks[0];
  const Block& into = operation.blocks[1];
  const bool user = operation.reduction.op == ReduceOp::user;
  if (!user && !is_defined(operation.reduction))
    refuse(place, fmt::format("{} is not defined", fab::to_string(operation.reduction)));
  if (operation.element_bytes == 0 || operation.element_bytes > std::numeric_limits<std::uint32_t>::max() ||
      (!user && operation.element_bytes != fab::element_bytes(operation.reduction.type)))
    refuse(place, fmt::format("elements of {} bytes", operation.element_bytes));
  if (!from.layout.is_contiguous() || !into.layout.is_contiguous() || from.layout.size() != into.layout.size() ||
      from.layout.size() % operation.element_bytes != 0)
    refuse(place, fmt::format("blocks of {} and {} bytes, which must be contiguous and hold as many elements of {}",
                              from.layout.size(), into.layout.size(), operation.element_bytes));
  if (overlap(from, into)) refuse(place, "the operands overlap");
}

void ScheduleBuilder::validate() const {
  if (ranks_ < 1) refuse("communicator", fmt::format("{} ranks; at least 1 is needed", ranks_));
  for (std::size_t r = 0; r < rounds_.size(); ++r) {
    std::set<std::tuple<OperationKind, Rank, std::uint32_t>> messages;
    for (std::size_t o = 0; o < rounds_[r].size(); ++o) {
      const Operation& operation = rounds_[r][o];
      const Place place{r, o, operation.kind};
      check(operation, place);
      if (is_message(operation.kind) &&
          !messages.emplace(operation.kind, operation.peer, operation.slots.front()).second)
        refuse(place, fmt::format("slot {} is used twice with peer {}", operation.slots.front(), operation.peer));
    }
  }
  for (const Pipeline& pipeline : pipelines_)
    if (pipeline.bytes > 0) check(pipeline);
}

// Both ends order the blocks of an edge by slot and decide by the same sum, so they agree without talking.
ScheduleBuilder::Round ScheduleBuilder::combine(const Round& round, const CommitOptions& options) {
  std::map<std::pair<OperationKind, Rank>, std::vector<const Operation*>> groups;
  for (const Operation& operation : round)
    if (is_message(operation.kind)) groups[{operation.kind, operation.peer}].push_back(&operation);

  const auto group_bytes = [](const std::vector<const Operation*>& group) {
    std::size_t bytes = 0;
    for (const Operation* operation : group) bytes += payload(operation->blocks);
    return bytes;
  };
  const auto limit = [&](Rank peer) {
    return options.combine_bytes_of ? std::min(options.combine_bytes, options.combine_bytes_of(peer))
                                    : options.combine_bytes;
  };
  const auto stays = [&](const std::vector<const Operation*>& group) {
    const std::size_t most = limit(group.front()->peer);
    return group.size() == 1 || most == 0 || group_bytes(group) > most;
  };
  Round result;
  for (const Operation& operation : round) {
    if (!is_message(operation.kind)) {
      result.push_back(operation);
      continue;
    }
    auto& group = groups[{operation.kind, operation.peer}];
    if (group.empty()) continue;  // already part of an earlier message
    if (stays(group)) {
      result.push_back(operation);
      continue;
    }
    std::sort(group.begin(), group.end(),
              [](const auto* a, const auto* b) { return a->slots.front() < b->slots.front(); });
    Operation message{operation.kind, operation.peer, {}, {}};
    for (const Operation* part : group) {
      message.slots.push_back(part->slots.front());
      message.blocks.push_back(part->blocks.front());
    }
    result.push_back(std::move(message));
    group.clear();
  }
  return result;
}

ScheduleBuilder::Round ScheduleBuilder::merge_copies(Round round) {
  Round result;
  for (Operation& operation : round) {
    if (operation.kind == OperationKind::copy && !result.empty() && result.back().kind == OperationKind::copy) {
      Operation& last = result.back();
      if (last.slots == operation.slots && continues(last.blocks[0], operation.blocks[0]) &&
          continues(last.blocks[1], operation.blocks[1]) &&
          last.blocks[0].layout.size() == last.blocks[1].layout.size()) {
        last.blocks = {joined(last.blocks[0], operation.blocks[0]), joined(last.blocks[1], operation.blocks[1])};
        continue;
      }
    }
    result.push_back(std::move(operation));
  }
  return result;
}

Schedule ScheduleBuilder::commit(const CommitOptions& options) const {
  validate();
  Freezer freezer(name_, scratch_bytes_);
  for (const Round& round : segmented(options.segment_bytes)) {
    if (round.empty()) continue;
    Round ready = merge_copies(combine(round, options));
    // Receives first, so that a message that arrives early finds its place; local operations last, while messages
    // travel.
    constexpr auto order = [](OperationKind kind) {
      return kind == OperationKind::recv ? 0 : kind == OperationKind::send ? 1 : 2;
    };
    std::stable_sort(ready.begin(), ready.end(),
                     [&](const Operation& a, const Operation& b) { return order(a.kind) < order(b.kind); });
    freezer.open_round();
    for (const Operation& operation : ready)
      freezer.add({.kind = operation.kind,
                   .reduction = operation.reduction,
                   .element_bytes = static_cast<std::uint32_t>(operation.element_bytes)},  // see check_reduce
                  operation.peer, operation.slots, operation.blocks);
  }
  return Schedule(freezer.freeze());
}

}  // namespace fab
