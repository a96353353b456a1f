#include "providers/local/message_history.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fab::local {

namespace {

constexpr std::uint64_t kWords = 16;
/// An odd number with bits all over: it spreads what is multiplied by it.
constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;

std::uint64_t add(std::uint64_t sum, const std::byte* from, std::uint64_t bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, std::min(bytes, sizeof(word)));
  return (sum ^ word) * kSpread;
}

/// Of words at equal distances in each of the first pieces, the first one and the last one among them.
std::uint64_t sum_of_words(std::span<const iovec> pieces) noexcept {
  const std::span<const iovec> first = pieces.first(std::min<std::size_t>(pieces.size(), kWords / 2));
  const std::uint64_t words = kWords / first.size();
  std::uint64_t sum = 0;
  for (const iovec& piece : first) {
    if (piece.iov_len == 0) continue;
    const auto* const memory = static_cast<const std::byte*>(piece.iov_base);
    const std::uint64_t last = piece.iov_len - std::min(piece.iov_len, sizeof(std::uint64_t));
    for (std::uint64_t word = 0; word < words; ++word)
      sum = add(sum, memory + last * word / (words - 1), piece.iov_len);
  }
  return sum;
}

}  // namespace

void MessageHistory::Place::look(std::uint64_t new_words) noexcept {
  const bool changed = new_words != std::exchange(words, new_words);
  const bool as_expected = change() == (changed ? Change::changing : Change::constant);
  if (changed) {
    has_changed = true;
    unchanged_looks = 0;
  } else if (unchanged_looks < kConstant) {
    ++unchanged_looks;
  }
  posts_to_skip = as_expected ? kPostsOfALook - 1 : 0;
}

void MessageHistory::Place::post(std::span<const iovec> pieces, std::uint64_t its_bytes) noexcept {
  if (memory != pieces[0].iov_base || bytes != its_bytes)
    *this = {.memory = pieces[0].iov_base, .bytes = its_bytes, .words = sum_of_words(pieces)};
  else if (posts_to_skip > 0)
    --posts_to_skip;
  else
    look(sum_of_words(pieces));
}

std::size_t MessageHistory::index_of(const void* memory, std::uint64_t bytes) noexcept {
  const std::uint64_t key = (reinterpret_cast<std::uintptr_t>(memory) / sizeof(std::uint64_t) + bytes) * kSpread;
  return key >> 60 & (kPlaces - 1);
}

Change MessageHistory::look(std::span<const iovec> pieces, std::uint64_t bytes) {
  if (places_ == nullptr) places_ = std::make_unique<std::array<Place, kPlaces>>();
  Place& place = (*places_)[index_of(pieces[0].iov_base, bytes)];
  place.post(pieces, bytes);
  return place.change();
}

Change MessageHistory::foresee(std::span<const iovec> pieces, std::uint64_t bytes) const noexcept {
  if (places_ == nullptr) return Change::unknown;
  Place place = (*places_)[index_of(pieces[0].iov_base, bytes)];
  place.post(pieces, bytes);
  return place.change();
}

}  // namespace fab::local
