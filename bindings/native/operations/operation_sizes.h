// Checks the sizes of a call's buffers.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "collectives/calls/block_list.h"
#include "fab/operation.h"

namespace fab::native {

using detail::CallBuffers;
using detail::OperationName;

[[nodiscard]] std::string_view name_of(OperationName operation) noexcept;

/// Throws Error(invalid_count) with a text that begins with the operation's name.
template <class... Values>
[[noreturn]] void refuse(const CallBuffers& call, fmt::format_string<Values...> text, Values&&... values) {
  throw Error(Errc::invalid_count,
              fmt::format("{}: {}", name_of(call.operation), fmt::format(text, std::forward<Values>(values)...)));
}

[[nodiscard]] inline bool is_typed(const CallBuffers& call) noexcept { return call.element_bytes > 0; }

/// The layout of a block: the caller's, or one of elements in a row.
class BlockLayout {
 public:
  /// `elements` says how many a block of a typed call has, and refuses sizes that do not fit.
  template <class CountElements>
  BlockLayout(const CallBuffers& call, CountElements&& elements) {
    if (is_typed(call)) own_ = Layout::contiguous(elements() * call.element_bytes);
    layout_ = own_ ? &*own_ : call.layout;
  }
  BlockLayout(const BlockLayout&) = delete;
  BlockLayout& operator=(const BlockLayout&) = delete;

  [[nodiscard]] const Layout& operator*() const noexcept { return *layout_; }

 private:
  std::optional<Layout> own_;
  const Layout* layout_ = nullptr;
};

/// One side of a call in blocks of different sizes.
class ListedBlocks {
 public:
  /// Throws Error(invalid_count) for counts below 0, other numbers of counts and displacements, and blocks outside of
  /// `elements` elements of a typed call; Error(invalid_argument) where a call that is not typed has no layout.
  ListedBlocks(const CallBuffers& call, const Blocks& blocks, std::size_t elements);
  ListedBlocks(const ListedBlocks&) = delete;
  ListedBlocks& operator=(const ListedBlocks&) = delete;

  [[nodiscard]] const collectives::BlockList& list() const noexcept { return list_; }

 private:
  std::optional<Layout> element_;
  collectives::BlockList list_;
};

/// Elements of each of `blocks` equal blocks in a buffer of `elements`.
[[nodiscard]] std::size_t elements_per_block(const CallBuffers& call, std::size_t elements, std::size_t blocks);
/// Throws unless both buffers have as many elements.
void check_equal(const CallBuffers& call);

}  // namespace fab::native
