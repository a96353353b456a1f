// Maps writes of peers into this rank's memory to the messages that they carry.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "core/base/engine_lock.h"
#include "core/base/slots.h"
#include "core/provider.h"

namespace fab::core {

/// Something that peers write to, by a number of its own. Guarded by the engine's lock.
class WriteTarget {
 public:
  /// What writes to it carry, less the lane; while it is added.
  std::uint32_t number FAB_GUARDED_BY(engine_lock) = 0;

  /// A peer has written. The lane is what the peer has told of it, below Arrivals::kLanes.
  virtual void written(unsigned lane) noexcept FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~WriteTarget() = default;
};

/// The open targets of this rank by their numbers, and the byte that credits are written to. Guarded by the engine's
/// lock.
class Arrivals final : public WriteListener {
 public:
  // What a write carries is 32 bits: the target's number and the lane. A number is the place of its target, and how
  // often the place was used.
  static constexpr unsigned kLaneBits = 2;
  static constexpr std::uint32_t kLanes = 1u << kLaneBits;

  /// Precondition: the provider writes.
  explicit Arrivals(Provider& provider);
  ~Arrivals();
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  /// What a write to the target of that number carries.
  [[nodiscard]] static std::uint32_t data_of(std::uint32_t number, unsigned lane) noexcept {
    return number << kLaneBits | lane;
  }

  /// Throws Error(no_resources) where there are as many as numbers can tell apart.
  void add(WriteTarget& target) FAB_REQUIRES(engine_lock);
  void remove(const WriteTarget& target) noexcept FAB_REQUIRES(engine_lock);
  void written(std::uint32_t data) noexcept override;

  [[nodiscard]] std::span<const iovec> credit() const noexcept { return {&credit_, 1}; }
  [[nodiscard]] const Registration& credit_source() const noexcept { return *source_; }
  [[nodiscard]] RemoteMemory remote() const noexcept { return exposed_->remote(); }

 private:
  static constexpr unsigned kPlaceBits = 20;
  static constexpr std::uint32_t kPlaces = 1u << kPlaceBits;
  static constexpr std::uint32_t kUses = 1u << (32 - kLaneBits - kPlaceBits);

  struct Place {
    explicit Place(std::uint32_t its_number) noexcept : number(its_number) {}

    std::uint32_t number;
    WriteTarget* target = nullptr;
    std::uint32_t uses = 0;  ///< part of the number, so that a late write for a target that is gone meets no other
  };

  Provider& provider_;
  Slots<Place> places_ FAB_GUARDED_BY(engine_lock);
  std::array<std::byte, 64> memory_{};
  iovec credit_{memory_.data(), 1};
  std::unique_ptr<Registration> source_;
  std::unique_ptr<Registration> exposed_;
};

}  // namespace fab::core
