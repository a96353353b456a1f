#include "providers/local/rewrite_watch.h"

#include <algorithm>
#include <cstring>

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
    const auto* const memory = static_cast<const std::byte*>(piece.iov_base);
    const std::uint64_t last = piece.iov_len - std::min(piece.iov_len, sizeof(std::uint64_t));
    for (std::uint64_t word = 0; word < words; ++word)
      sum = add(sum, memory + last * word / (words - 1), piece.iov_len);
  }
  return sum;
}

}  // namespace

bool RewriteWatch::is_rewritten(std::span<const iovec> pieces, std::uint64_t bytes) {
  if (places_ == nullptr) places_ = std::make_unique<std::array<Place, kPlaces>>();
  const void* const memory = pieces[0].iov_base;
  const std::uint64_t key = (reinterpret_cast<std::uintptr_t>(memory) / sizeof(std::uint64_t) + bytes) * kSpread;
  Place& place = (*places_)[key >> 60 & (kPlaces - 1)];
  const std::uint64_t words = sum_of_words(pieces);
  if (place.memory != memory || place.bytes != bytes)
    place = {.memory = memory, .bytes = bytes, .words = words};
  else if (place.words != words)
    place = {.memory = memory, .bytes = bytes, .words = words, .unchanged_posts = 0};
  else if (place.unchanged_posts < kForgotten)
    ++place.unchanged_posts;
  return place.unchanged_posts < kForgotten;
}

}  // namespace fab::local
