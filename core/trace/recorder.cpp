#include "core/trace/recorder.h"

#include <algorithm>

namespace fab::core {

// What a thread has written is whole if the time is the same before and after: its stores and these loads keep their
// order.
Recorder::Kept Recorder::read() const {
  Kept kept;
  const std::uint64_t recorded = next_.load(std::memory_order_relaxed);
  const std::uint64_t first = recorded > capacity() ? recorded - capacity() : 0;
  kept.records.reserve(static_cast<std::size_t>(recorded - first));
  for (std::uint64_t i = first; i < recorded; ++i) {
    const Slot& slot = slots_[i & mask_];
    std::array<std::uint64_t, kWords> words{};
    for (std::size_t word = 0; word < kWords; ++word) words[word] = slot.words[word].load(std::memory_order_acquire);
    const bool whole = words[0] != 0 && words[0] != kBusy && slot.words[0].load(std::memory_order_relaxed) == words[0];
    if (whole) kept.records.push_back(std::bit_cast<TraceRecord>(words));
  }
  kept.lost = recorded - kept.records.size();
  return kept;
}

// Providers give their own literals, so the address tells them apart.
unsigned Recorder::number_of(std::string_view way) noexcept {
  if (way.empty()) return 0;
  for (std::size_t i = 1; i < way_count_; ++i)
    if (ways_[i].data() == way.data()) return static_cast<unsigned>(i);
  if (way_count_ == ways_.size()) return 0;
  ways_[way_count_] = way;
  return static_cast<unsigned>(way_count_++);
}

}  // namespace fab::core
