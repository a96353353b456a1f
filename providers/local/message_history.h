// A link's memory of which messages the program changes between their posts.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace fab::local {

/// What is known of a message that is posted again from the same place.
enum class Change : std::uint8_t {
  unknown,
  changing,  ///< one of its last posts found it changed
  constant
};

/// A few words of a message tell whether it is what was sent from that memory the last time. A program that writes what
/// it sends must win back each cache line that the receiver has read there; from a copy in the ring the receiver reads
/// without that. What stays the same is best read where it lies (docs/lab/within-a-node.md).
class MessageHistory {
 public:
  /// Of the message at this place, of which a new post begins. Precondition: there is a piece.
  [[nodiscard]] Change look(std::span<const iovec> pieces, std::uint64_t bytes);
  /// What look() would find.
  [[nodiscard]] Change foresee(std::span<const iovec> pieces, std::uint64_t bytes) const noexcept;

  /// After so many looks without a change a message counts as constant. Values of a computation may stay for a while.
  static constexpr std::uint32_t kConstant = 16;
  /// A look that finds what was known stands for so many posts.
  static constexpr std::uint32_t kPostsOfALook = 4;

 private:
  static constexpr std::size_t kPlaces = 16;

  struct Place {
    const void* memory = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t words = 0;            ///< a sum of them
    std::uint32_t unchanged_looks = 0;  ///< up to kConstant
    std::uint32_t posts_to_skip = 0;
    bool has_changed = false;

    void post(std::span<const iovec> pieces, std::uint64_t its_bytes) noexcept;
    void look(std::uint64_t new_words) noexcept;
    [[nodiscard]] Change change() const noexcept {
      return unchanged_looks == kConstant ? Change::constant : has_changed ? Change::changing : Change::unknown;
    }
  };

  [[nodiscard]] static std::size_t index_of(const void* memory, std::uint64_t bytes) noexcept;

  std::unique_ptr<std::array<Place, kPlaces>> places_;  ///< null: no such message yet
};

}  // namespace fab::local
