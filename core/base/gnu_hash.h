// The hash table by which the dynamic linker finds the symbols that an object has for others (DT_GNU_HASH).
#pragma once

#include <link.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace fab::core {

class GnuHash {
 public:
  /// Null: the object has none.
  explicit GnuHash(const std::uint32_t* table) noexcept {
    if (table == nullptr) return;
    first_symbol_ = table[1];
    shift_ = table[3];
    filter_ = {reinterpret_cast<const Word*>(table + 4), table[2]};
    buckets_ = {reinterpret_cast<const std::uint32_t*>(filter_.data() + filter_.size()), table[0]};
  }

  /// The number of the first symbol in it; all that follow are, too. None if it is empty.
  [[nodiscard]] std::optional<std::size_t> first_symbol() const noexcept {
    if (std::ranges::all_of(buckets_, [](std::uint32_t each) { return each == 0; })) return std::nullopt;
    return first_symbol_;
  }

  /// Calls visit(number of a symbol) for each whose name has the same hash. The table is not empty.
  template <class Visit>
  void for_each(std::string_view name, Visit&& visit) const {
    std::uint32_t hash = 5381;
    for (const char each : name) hash = hash * 33 + static_cast<unsigned char>(each);
    constexpr std::size_t kBits = sizeof(Word) * CHAR_BIT;
    const Word word = filter_[hash / kBits % filter_.size()];
    if ((word >> hash % kBits & word >> (hash >> shift_) % kBits & 1) == 0) return;
    const std::uint32_t* const hashes = buckets_.data() + buckets_.size();
    std::size_t symbol = buckets_[hash % buckets_.size()];
    if (symbol < first_symbol_) return;
    for (std::uint32_t its = 0; (its & 1) == 0; ++symbol) {  // the last of a bucket is odd
      its = hashes[symbol - first_symbol_];
      if ((its | 1) == (hash | 1)) visit(symbol);
    }
  }

 private:
  using Word = ElfW(Addr);

  std::size_t first_symbol_ = 0;
  std::uint32_t shift_ = 0;
  std::span<const Word> filter_;
  std::span<const std::uint32_t> buckets_;
};

}  // namespace fab::core
