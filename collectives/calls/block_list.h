// The blocks of one side of an exchange, in the forms in which callers give them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/plan/call_shape.h"
#include "fab/block_shape.h"
#include "fab/integers.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// One block: `count` elements from `offset` bytes on.
struct BlockView {
  std::ptrdiff_t offset = 0;
  std::size_t count = 0;
  const Layout* element = nullptr;

  [[nodiscard]] std::size_t bytes() const noexcept { return count * element->size(); }
  [[nodiscard]] Block in(BufferId buffer) const {
    return {buffer, offset, count == 1 ? *element : element->repeated(count)};
  }
};

/// Does not own what it was made from.
class BlockList {
 public:
  /// `blocks` blocks of `elements` elements, one after another.
  static BlockList regular(const Layout& element, std::size_t elements, std::size_t blocks) noexcept {
    BlockList list;
    list.element_ = &element;
    list.elements_ = elements;
    list.blocks_ = blocks;
    return list;
  }
  /// Block i has counts[i] elements from displacements[i] extents on. Counts are not negative.
  static BlockList irregular(const Layout& element, Integers counts, Integers displacements) noexcept;
  /// Any shape per block.
  static BlockList general(std::span<const BlockShape> blocks) noexcept;
  /// Any number of elements of any layout per block.
  static BlockList views(std::span<const BlockView> blocks) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return blocks_; }
  [[nodiscard]] BlockView operator[](std::size_t i) const noexcept;
  // All blocks are alike.
  [[nodiscard]] bool is_regular() const noexcept { return form_ == Form::regular; }
  /// Of a regular list; null: it is empty.
  [[nodiscard]] const Layout* element() const noexcept { return element_; }
  [[nodiscard]] std::size_t elements_of_each() const noexcept { return elements_; }
  [[nodiscard]] std::size_t bytes(std::size_t i) const noexcept {
    return form_ == Form::regular ? elements_ * element_->size() : (*this)[i].bytes();
  }
  /// Blocks first, first + 1 and so on, `count` of them at most as many as there are, as one; block 0 follows the last.
  [[nodiscard]] Block range(BufferId buffer, int first, int count) const;
  /// Adds what a schedule depends on.
  void describe(core::CallShape& shape) const;

 private:
  void describe_each(core::CallShape& shape) const;

  enum class Form : std::uint8_t { regular, irregular, general, views };
  static constexpr std::uint64_t kForms = 4;

  Form form_ = Form::regular;
  const Layout* element_ = nullptr;
  std::size_t elements_ = 0;
  std::size_t blocks_ = 0;
  Integers counts_;
  Integers displacements_;
  const BlockShape* shapes_ = nullptr;  ///< general: blocks_ of them
  const BlockView* views_ = nullptr;    ///< views: blocks_ of them
};

}  // namespace fab::collectives
