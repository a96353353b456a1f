// Wakes a sleeping rank of the same node, and tells it of the end of the others.
#pragma once

#include <cstdint>
#include <vector>

#include "providers/local/segment.h"

namespace fab::local {

/// Of a rank that sleeps. A descriptor and not a futex, for the engine sleeps on several providers at once.
class Bell {
 public:
  /// Throws Error(no_resources).
  explicit Bell(SegmentHead& head);

  /// Readable when somebody rang after arm(), or a watched process ended.
  [[nodiscard]] int descriptor() const noexcept { return watched_.get(); }
  /// The end that others write to.
  [[nodiscard]] int button() const noexcept { return button_.get(); }

  /// From now on others ring. Whatever they published before is visible afterwards: look before sleeping.
  void arm() noexcept;
  [[nodiscard]] bool armed() const noexcept { return armed_; }
  void disarm() noexcept;

  /// Also tells of the end of a process, by this number. Nothing happens where the kernel cannot.
  void watch(long process, std::uint32_t number);
  void forget(std::uint32_t number) noexcept { processes_[number] = Descriptor(); }
  /// The process of that number has not ended; false where the kernel cannot tell.
  [[nodiscard]] bool is_alive(std::uint32_t number) const noexcept;
  /// The numbers of processes that have ended since the last call.
  [[nodiscard]] std::vector<std::uint32_t> ended();

 private:
  SegmentHead& head_;
  Descriptor sound_;
  Descriptor button_;
  Descriptor watched_;
  std::vector<Descriptor> processes_;  ///< by number
  bool armed_ = false;
};

/// The way to another rank's bell.
class BellRope {
 public:
  /// Throws Error(unreachable).
  BellRope(const SegmentName& name, SegmentHead& head, bool own_process_has_barriers);

  /// After publishing something: wakes the other rank if it sleeps.
  void pull() noexcept {
    if (head_->sleeping.claim(needs_fence_)) ring();
  }
  /// What is looked at between publishing and pull() may be older than what was published.
  [[nodiscard]] bool needs_fence() const noexcept { return needs_fence_; }

 private:
  void ring() noexcept;

  SegmentHead* head_;
  Descriptor button_;
  bool needs_fence_;
};

/// Lets others of the node make this process execute a memory barrier; false where the kernel cannot.
[[nodiscard]] bool accept_barriers() noexcept;

}  // namespace fab::local
