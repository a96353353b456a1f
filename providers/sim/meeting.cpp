#include "providers/sim/meeting.h"

#include <fmt/core.h>

#include "fab/error.h"

namespace fab::sim {

namespace {

/// There are fewer than 2^28 ranks, for their states would not fit.
std::uint64_t key_of(Rank to, Rank from, std::uint8_t slot) noexcept {
  return (static_cast<std::uint64_t>(to) << 28 | static_cast<std::uint64_t>(from)) << 8 | slot;
}

[[noreturn]] void fail(const std::string& what) { throw Error(Errc::invalid_schedule, "sim::predict: " + what); }

}  // namespace

void EarlyMessages::keep(Rank to, const Arrived& arrived) {
  std::uint32_t place = 0;
  if (free_.empty()) {
    place = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({arrived, 0});
  } else {
    place = free_.back();
    free_.pop_back();
    nodes_[place] = {arrived, 0};
  }
  const auto [queue, fresh] = queues_.try_emplace(key_of(to, arrived.from, arrived.message.slot), Queue{place, place});
  if (fresh) return;
  nodes_[queue->second.last].next = place;
  queue->second.last = place;
}

std::optional<Arrived> EarlyMessages::take(Rank to, Rank from, std::uint8_t slot) {
  const auto queue = queues_.find(key_of(to, from, slot));
  if (queue == queues_.end()) return std::nullopt;
  const std::uint32_t place = queue->second.first;
  free_.push_back(place);
  if (place == queue->second.last)
    queues_.erase(queue);
  else
    queue->second.first = nodes_[place].next;
  return nodes_[place].arrived;
}

std::optional<EarlyMessages::Sample> EarlyMessages::any() const {
  if (queues_.empty()) return std::nullopt;
  const auto& [key, queue] = *queues_.begin();
  const Arrived& arrived = nodes_[queue.first].arrived;
  return Sample{static_cast<Rank>(key >> 36), arrived.from, arrived.message.slot};
}

void PostedReceives::post(Rank to, std::uint64_t index, std::uint64_t begin, std::uint64_t end) {
  if (end - begin <= kLong) return;
  const Step& step = programs_.step(index);
  of_long_rounds_.emplace(key_of(to, step.peer, step.slot), index);
}

bool PostedReceives::take(Rank to, Rank from, std::uint8_t slot, std::uint64_t begin, std::uint64_t end) {
  if (end - begin > kLong) {
    const auto found = of_long_rounds_.find(key_of(to, from, slot));
    if (found == of_long_rounds_.end()) return false;
    programs_.set_received(found->second);
    of_long_rounds_.erase(found);
    return true;
  }
  for (std::uint64_t index = begin; index < end; ++index) {
    const Step& step = programs_.step(index);
    if (step.kind != Step::Kind::recv || step.peer != from || step.slot != slot) continue;
    programs_.set_received(index);
    return true;
  }
  return false;
}

void check_received(const Programs& programs, Rank rank, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t index = begin; index < end; ++index)
    if (const Step& step = programs.step(index); step.kind == Step::Kind::recv)
      fail(fmt::format("rank {} waits for a message from rank {} (slot {}, {} B) that is never sent", rank, step.peer,
                       static_cast<unsigned>(step.slot), programs.bytes(step)));
}

void check_taken(const EarlyMessages& early) {
  if (const auto message = early.any())
    fail(fmt::format("rank {} sends rank {} a message (slot {}) that is never received", message->from, message->to,
                     static_cast<unsigned>(message->slot)));
}

}  // namespace fab::sim
