// Wakes a sleeping rank of the same node, and tells it of the end of the others.
#pragma once

#include <cstdint>
#include <vector>

#include "providers/local/segment.h"

namespace fab::local {

/// The doorbell of a rank that sleeps. It is a descriptor, not a futex: the engine sleeps on several providers at once.
class Doorbell {
 public:
  /// Throws Error(no_resources).
  explicit Doorbell(SegmentHead& head);

  /// Readable when a rank has rung after arm(), or a watched process has ended.
  [[nodiscard]] int descriptor() const noexcept { return watched_.get(); }
  /// The end of the pipe that other ranks write to.
  [[nodiscard]] int write_end() const noexcept { return write_end_.get(); }

  /// From now on other ranks ring. All that they published before is visible afterwards: look before sleeping.
  void arm() noexcept;
  [[nodiscard]] bool armed() const noexcept { return armed_; }
  void disarm() noexcept;

  /// Also reports the end of a process, by this number. Does nothing if the kernel has no pidfd_open.
  void watch(long process, std::uint32_t number);
  void forget(std::uint32_t number) noexcept { processes_[number] = Descriptor(); }
  /// Whether the process of that number is alive; false if the kernel cannot tell.
  [[nodiscard]] bool is_alive(std::uint32_t number) const noexcept;
  /// The numbers of processes that have ended since the last call.
  [[nodiscard]] std::vector<std::uint32_t> ended();

 private:
  SegmentHead& head_;
  Descriptor read_end_;
  Descriptor write_end_;
  Descriptor watched_;
  std::vector<Descriptor> processes_;  ///< by number
  bool armed_ = false;
};

/// The doorbell of another rank, to be rung.
class RemoteDoorbell {
 public:
  /// Throws Error(unreachable).
  RemoteDoorbell(const SegmentName& name, SegmentHead& head, bool own_process_has_barriers);

  /// Call this after publishing data: it wakes the other rank if that rank sleeps.
  void ring() noexcept {
    if (head_->sleeping.claim(needs_fence_)) wake();
  }
  /// Data that is read between publishing and ring() may be older than what was published.
  [[nodiscard]] bool needs_fence() const noexcept { return needs_fence_; }

 private:
  void wake() noexcept;

  SegmentHead* head_;
  Descriptor write_end_;
  bool needs_fence_;
};

/// Others of the node can make this process execute a memory barrier: it was loaded with fab while it had one thread,
/// and the kernel can. Constant.
[[nodiscard]] bool accept_barriers() noexcept;

}  // namespace fab::local
