#include "providers/sim/program.h"

#include <fmt/core.h>

#include "fab/error.h"

namespace fab::sim {

namespace {

constexpr std::uint32_t kSlots = 1u << 8;
constexpr std::size_t kSizes = 1u << 16;

Step::Kind kind_of(const OperationRecord& operation) noexcept {
  switch (operation.kind) {
    case OperationKind::send:
      return Step::Kind::send;
    case OperationKind::recv:
      return Step::Kind::recv;
    default:
      return Step::Kind::work;
  }
}

}  // namespace

std::uint16_t Programs::size_index(std::uint64_t bytes) {
  const auto found = size_indices_.find(bytes);
  if (found != size_indices_.end()) return found->second;
  if (sizes_.size() == kSizes)
    throw Error(Errc::no_resources, fmt::format("sim::predict: messages of more than {} sizes", kSizes));
  const auto index = static_cast<std::uint16_t>(sizes_.size());
  sizes_.push_back(bytes);
  size_indices_.emplace(bytes, index);
  return index;
}

void Programs::add(const Schedule& schedule) {
  for (const Rank peer : schedule.peers())
    if (peer < 0 || peer >= ranks_)
      throw Error(Errc::invalid_schedule,
                  fmt::format("sim::predict: {}: a message to or from rank {} of {}", schedule.name(), peer, ranks_));
  for (const RoundRecord& round : schedule.rounds()) {
    for (const OperationRecord& operation : schedule.operations(round)) {
      const Step::Kind kind = kind_of(operation);
      messages_ += kind == Step::Kind::send ? 1 : 0;
      if (operation.slot >= kSlots)
        throw Error(Errc::no_resources,
                    fmt::format("sim::predict: {}: slot {}; {} are possible", schedule.name(), operation.slot, kSlots));
      steps_.push_back({.peer = kind == Step::Kind::work ? 0 : schedule.peers()[operation.peer],
                        .size = size_index(operation.bytes),
                        .slot = static_cast<std::uint8_t>(operation.slot),
                        .kind = kind});
    }
    steps_.push_back({});
  }
  begins_.push_back(steps_.size());
}

}  // namespace fab::sim
