// A link's memory of which messages the program writes anew between their posts.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace fab::local {

/// Of one link. A few words of a message tell whether it is what was sent from that memory the last time. A program
/// that writes what it sends must win back each cache line that the receiver has read there; from a copy in the ring
/// the receiver reads without that (docs/lab/within-a-node.md).
class RewriteWatch {
 public:
  /// Whether the message at this place, of which a new post begins, was found changed at one of its last posts.
  /// Precondition: there is a piece.
  [[nodiscard]] bool is_rewritten(std::span<const iovec> pieces, std::uint64_t bytes);

 private:
  static constexpr std::size_t kPlaces = 16;
  /// After so many posts without a change a message counts as unchanged. Values of a computation may stay for a while.
  static constexpr std::uint32_t kForgotten = 16;

  struct Place {
    const void* memory = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t words = 0;  ///< a sum of them
    std::uint32_t unchanged_posts = kForgotten;
  };

  std::unique_ptr<std::array<Place, kPlaces>> places_;  ///< null: no such message yet
};

}  // namespace fab::local
