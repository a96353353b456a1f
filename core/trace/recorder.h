// Records what a rank does, in a ring that keeps the newest records (FAB_TRACE).
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/trace/trace_record.h"

namespace fab::core {

/// From any thread, without locks. A thread that is interrupted while it writes keeps its place in the ring: others
/// that come round to it meanwhile lose their records, which are counted.
class Recorder {
 public:
  /// Keeps so many records, rounded up to a power of two.
  explicit Recorder(std::size_t events) : slots_(new Slot[std::bit_ceil(events)]), mask_(std::bit_ceil(events) - 1) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Of CLOCK_MONOTONIC, which all ranks of a host share. Never 0 or 1.
  [[nodiscard]] static std::uint64_t now_ns() noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  }

  void record(const TraceRecord& record) noexcept {
    Slot& slot = slots_[next_.fetch_add(1, std::memory_order_relaxed) & mask_];
    if (slot.words[0].exchange(kBusy, std::memory_order_acquire) == kBusy) return;
    const auto words = std::bit_cast<std::array<std::uint64_t, kWords>>(record);
    for (std::size_t i = 1; i < kWords; ++i) slot.words[i].store(words[i], std::memory_order_release);
    slot.words[0].store(words[0], std::memory_order_release);
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }

  /// What is there, oldest first as far as threads have kept their turns. Others may record meanwhile.
  struct Kept {
    std::vector<TraceRecord> records;
    std::uint64_t lost = 0;  ///< older ones
  };
  [[nodiscard]] Kept read() const;

  /// The number of a provider's way, which lives as long as the recorder; 0: it has no name. From one thread at a time.
  [[nodiscard]] unsigned number_of(std::string_view way) noexcept;
  /// Their names, by number.
  [[nodiscard]] std::span<const std::string_view> ways() const noexcept { return std::span(ways_).first(way_count_); }

 private:
  static constexpr std::size_t kWords = sizeof(TraceRecord) / sizeof(std::uint64_t);
  static constexpr std::uint64_t kBusy = 1;  ///< in place of the time: a thread writes

  struct Slot {
    std::array<std::atomic<std::uint64_t>, kWords> words{};
  };

  std::unique_ptr<Slot[]> slots_;
  std::size_t mask_;
  std::array<std::string_view, std::size_t{1} << TraceRecord::kWayBits> ways_{};
  std::size_t way_count_ = 1;
  alignas(64) std::atomic<std::uint64_t> next_{0};
};

}  // namespace fab::core
