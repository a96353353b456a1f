// The shape of a call: everything that its plan depends on besides the communicator. It is the key of the plan cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/hash.h"
#include "fab/layout.h"

namespace fab::core {

/// Written anew for every call into memory that is kept, so that a call whose plan exists allocates nothing.
class CallShape {
 public:
  void reset(std::uint64_t call) {
    words_.clear();
    layouts_.clear();
    add(call);
  }
  void add(std::int64_t word) { words_.push_back(static_cast<std::uint64_t>(word)); }
  void add(std::uint64_t word) { words_.push_back(word); }
  /// The layout must live until the shape was looked up or stored.
  void add(const Layout& layout) { layouts_.push_back(&layout); }

  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept { return words_; }
  [[nodiscard]] std::span<const Layout* const> layouts() const noexcept { return layouts_; }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    std::uint64_t hash = words_.size();
    for (const std::uint64_t word : words_) hash = hash_with(hash, word);
    for (const Layout* layout : layouts_) hash = hash_with(hash, layout->hash());
    return hash;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<const Layout*> layouts_;
};

/// A shape that keeps its layouts alive.
class StoredShape {
 public:
  explicit StoredShape(const CallShape& shape) : words_(shape.words().begin(), shape.words().end()) {
    for (const Layout* layout : shape.layouts()) layouts_.push_back(*layout);
  }
  bool operator==(const CallShape& shape) const noexcept {
    return std::ranges::equal(words_, shape.words()) &&
           std::ranges::equal(layouts_, shape.layouts(),
                              [](const Layout& mine, const Layout* other) { return mine == *other; });
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<Layout> layouts_;
};

}  // namespace fab::core
