#include "core/communicator/partition.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "fab/error.h"

namespace fab::core {

namespace {

void check(std::string_view call, const char* what, std::size_t given, std::size_t count) {
  if (given >= count)
    throw Error(Errc::invalid_argument,
                fmt::format("{}: {} is {}; the exchange has {}, numbered from 0 on", call, what, given, count));
}

}  // namespace

Partition::Partition(std::string name, std::vector<PartedBlock> outgoing, std::vector<PartedBlock> incoming)
    : name_(std::move(name)), incoming_(std::move(incoming)) {
  for (PartedBlock& block : outgoing) {
    auto marked = std::make_unique<std::atomic<bool>[]>(block.group_of.size());
    for (std::size_t part = 0; part < block.group_of.size(); ++part) marked[part] = true;  // until it is started
    auto unmarked = std::make_unique<std::atomic<std::uint32_t>[]>(block.groups.size());
    outgoing_.push_back({std::move(block), std::move(marked), std::move(unmarked)});
  }
}

// The caller hands what is stored here to the threads that mark, together with the news that it has started.
void Partition::open() noexcept {
  for (const auto& [block, marked, unmarked] : outgoing_) {
    for (std::size_t group = 0; group < block.groups.size(); ++group)
      unmarked[group].store(0, std::memory_order_relaxed);
    for (std::size_t part = 0; part < block.group_of.size(); ++part) {
      marked[part].store(false, std::memory_order_relaxed);
      if (const std::uint32_t group = block.group_of[part]; group != PartedBlock::kNoGroup)
        unmarked[group].fetch_add(1, std::memory_order_relaxed);
    }
  }
}

// The thread that counts a group down to 0 sends what the other threads have written before they counted.
const Arrival* Partition::mark(std::size_t destination, std::size_t part) {
  check(name_, "destination", destination, outgoing_.size());
  const auto& [block, marked, unmarked] = outgoing_[destination];
  check(name_, "part", part, block.group_of.size());
  if (marked[part].exchange(true, std::memory_order_relaxed))
    throw Error(Errc::invalid_argument,
                fmt::format("{}: part {} for destination {} is marked ready twice, or before the start", name_, part,
                            destination));
  const std::uint32_t group = block.group_of[part];
  if (group == PartedBlock::kNoGroup) return nullptr;
  return unmarked[group].fetch_sub(1, std::memory_order_acq_rel) == 1 ? &block.groups[group] : nullptr;
}

const Arrival* Partition::find_arrival(std::size_t source, std::size_t part) const {
  check(name_, "source", source, incoming_.size());
  const PartedBlock& block = incoming_[source];
  check(name_, "part", part, block.group_of.size());
  const std::uint32_t group = block.group_of[part];
  return group == PartedBlock::kNoGroup ? nullptr : &block.groups[group];
}

// The operations of an edge stand side by side.
std::vector<Arrival> Partition::arrivals() const {
  std::vector<Arrival> arrivals;
  for (const PartedBlock& block : incoming_) {
    Arrival& whole = arrivals.emplace_back();
    for (const Arrival& group : block.groups) {
      if (whole.count == 0) whole.first = group.first;
      whole.count += group.count;
    }
  }
  return arrivals;
}

}  // namespace fab::core
