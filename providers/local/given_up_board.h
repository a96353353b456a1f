// The place where a rank shows the others of its node the calls that it abandoned because of lost ranks.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "core/provider.h"

namespace fab::local {

/// In shared memory, where all bits are zero at first. One rank writes; all may read, also after its end.
class GivenUpBoard {
 public:
  /// Of so many communicators at a time. Who waits on one that had to make room has been told, or is not.
  static constexpr std::size_t kPlaces = 13;

  void show(const GivenUp& what) noexcept {
    const auto has = [](std::uint32_t communicator) {
      return [communicator](const Place& place) {
        return communicator_of(place.load(std::memory_order_relaxed)) == communicator;
      };
    };
    auto place = std::ranges::find_if(places_, has(what.communicator));
    if (what.failed_rank == kNoRank) {
      if (place != places_.end()) place->store(0, std::memory_order_release);
      return;
    }
    if (place == places_.end()) place = std::ranges::find_if(places_, has(0));
    if (place == places_.end()) place = places_.begin();
    place->store(std::uint64_t{what.communicator} << 32 | (static_cast<std::uint32_t>(what.failed_rank) + 1),
                 std::memory_order_release);
  }

  /// kNoRank: no rank's.
  [[nodiscard]] Rank find(std::uint32_t communicator) const noexcept {
    for (const Place& each : places_) {
      const std::uint64_t place = each.load(std::memory_order_acquire);
      if (communicator_of(place) == communicator && place != 0)
        return static_cast<Rank>(static_cast<std::uint32_t>(place) - 1);
    }
    return kNoRank;
  }

 private:
  using Place = std::atomic<std::uint64_t>;  ///< the communicator, and one more than the failed rank; 0: empty

  [[nodiscard]] static std::uint32_t communicator_of(std::uint64_t place) noexcept {
    return static_cast<std::uint32_t>(place >> 32);
  }

  std::array<Place, kPlaces> places_;
};

}  // namespace fab::local
