// The brute-force twin of Layout: every byte of data listed one by one (the type map of MPI-4.1, section 5.1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "fab/layout.h"

namespace fab::test {

struct TypeMap {
  std::vector<std::int64_t> bytes;  ///< offsets, in travelling order
  std::int64_t lower = 0;
  std::int64_t upper = 0;

  [[nodiscard]] std::int64_t extent() const { return upper - lower; }
  [[nodiscard]] bool blank() const { return bytes.empty() && lower == 0 && upper == 0; }

  static TypeMap contiguous(std::size_t count) {
    TypeMap map;
    map.bytes.resize(count);
    std::iota(map.bytes.begin(), map.bytes.end(), 0);
    map.upper = static_cast<std::int64_t>(count);
    return map;
  }

  /// Adds the bytes and bounds of another map; `started` tells whether this one has bounds yet.
  void place(const TypeMap& element, std::int64_t displacement, bool& started) {
    for (const std::int64_t byte : element.bytes) bytes.push_back(byte + displacement);
    if (element.blank()) return;
    lower = started ? std::min(lower, element.lower + displacement) : element.lower + displacement;
    upper = started ? std::max(upper, element.upper + displacement) : element.upper + displacement;
    started = true;
  }

  /// Copies of the map at the displacements.
  [[nodiscard]] TypeMap at(const std::vector<std::int64_t>& displacements) const {
    TypeMap result;
    bool started = false;
    for (const std::int64_t displacement : displacements) result.place(*this, displacement, started);
    return result;
  }

  [[nodiscard]] bool overlaps() const {
    std::vector<std::int64_t> sorted = bytes;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  }

  /// Runs of consecutive bytes.
  [[nodiscard]] std::vector<Piece> pieces() const {
    std::vector<Piece> result;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i > 0 && bytes[i] == bytes[i - 1] + 1) {
        ++result.back().bytes;
      } else {
        result.push_back({bytes[i], 1});
      }
    }
    return result;
  }

  [[nodiscard]] std::int64_t low() const { return bytes.empty() ? 0 : *std::min_element(bytes.begin(), bytes.end()); }
  [[nodiscard]] std::int64_t high() const {
    return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end()) + 1;
  }
};

}  // namespace fab::test
