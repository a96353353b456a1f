// Memory of fab's own (core/base/shared_heap.h): the receiver maps the sender's memory and copies directly from it.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/shared_heap.h"
#include "providers/local/pieces.h"
#include "providers/local/segment.h"

namespace fab::local {

/// How a message names the region that all of it lies in.
struct RegionName {
  std::uint32_t number = 0;  ///< 0: in no one region
  std::int32_t descriptor = -1;
};

/// This process's regions. Remembers the last, as programs mostly send from one, and places that lie in none.
class OwnMemory {
 public:
  [[nodiscard]] RegionName region_of(std::span<const iovec> pieces);

 private:
  static constexpr std::size_t kOutside = 16;

  core::SharedHeap& heap_ = core::SharedHeap::of_process();
  std::uint64_t generation_ = 0;  ///< of the heap, of which the rest is known
  core::SharedRegion last_{};
  std::array<const void*, kOutside> outside_{};  ///< where first pieces began, by their addresses
};

/// Another process's regions, mapped when a message from them comes.
class PeerMemory {
 public:
  explicit PeerMemory(long process) : process_(process) {}

  /// Turns addresses of the other process into ones of this. False when the region cannot be mapped, or does not hold
  /// all of them.
  [[nodiscard]] bool translate(const RegionName& name, std::span<iovec> pieces);
  [[nodiscard]] std::size_t mapped() const noexcept { return regions_.size(); }

 private:
  struct Region {
    std::uint32_t number = 0;
    core::SharedRegion there{};
    Mapping here{};  ///< none: it could not be mapped
  };

  [[nodiscard]] const Region& find(const RegionName& name);
  [[nodiscard]] Region map(const RegionName& name) const;
  void drop_ended();

  long process_;
  std::vector<Region> regions_;
};

}  // namespace fab::local
