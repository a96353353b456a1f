// Pack and unpack. All bytes move through one kernel, a grid of equal blocks: a leaf is one row of it, a leaf
// that is repeated once more (a face of a box) the whole grid, and a field of an array of structures a column.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/layout/tree.h"

namespace fab {
namespace {

struct Pack {
  using User = const std::byte*;
  using Packed = std::byte*;
  static void copy(User user, Packed packed, std::size_t bytes) noexcept { std::memcpy(packed, user, bytes); }
};

struct Unpack {
  using User = std::byte*;
  using Packed = const std::byte*;
  static void copy(User user, Packed packed, std::size_t bytes) noexcept { std::memcpy(user, packed, bytes); }
};

/// `rows` rows of `columns` blocks; packed, the blocks of a row follow each other. Always passed by value:
/// the compiler must see that the copied bytes do not change it.
struct Grid {
  std::int64_t rows = 1;
  std::int64_t row_stride = 0;
  std::int64_t packed_row_stride = 0;
  std::int64_t columns = 1;
  std::int64_t column_stride = 0;
};

/// `bytes` is a number or, where the compiler shall know it, an integral_constant.
template <class Direction, class Bytes>
void copy_blocks(Grid grid, Bytes bytes, typename Direction::User user, typename Direction::Packed packed) noexcept {
  const auto packed_column_stride = static_cast<std::int64_t>(bytes);
  for (std::int64_t i = 0; i < grid.rows; ++i) {
    const auto row = user + i * grid.row_stride;
    const auto packed_row = packed + i * grid.packed_row_stride;
    for (std::int64_t j = 0; j < grid.columns; ++j) {
      Direction::copy(row + j * grid.column_stride, packed_row + j * packed_column_stride, bytes);
    }
  }
}

template <std::size_t kBytes>
using Constant = std::integral_constant<std::size_t, kBytes>;

template <class Direction>
void copy_grid(Grid grid, std::uint64_t bytes, typename Direction::User user,
               typename Direction::Packed packed) noexcept {
  switch (bytes) {
    case 4:
      return copy_blocks<Direction>(grid, Constant<4>{}, user, packed);
    case 8:
      return copy_blocks<Direction>(grid, Constant<8>{}, user, packed);
    case 16:
      return copy_blocks<Direction>(grid, Constant<16>{}, user, packed);
    case 24:
      return copy_blocks<Direction>(grid, Constant<24>{}, user, packed);
    default:
      return copy_blocks<Direction>(grid, std::size_t{bytes}, user, packed);
  }
}

/// Where offsets are addresses the base is null (MPI_BOTTOM), to which C++ adds nothing.
template <class Byte>
[[nodiscard]] Byte* at(Byte* base, std::int64_t offset) noexcept {
  return reinterpret_cast<Byte*>(reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset));
}

/// `rows` repetitions of a node whose children are all leaves, child by child.
template <class Direction>
void copy_leaves(const LayoutNode& node, Trees leaves, std::uint64_t rows, typename Direction::User user,
                 typename Direction::Packed packed) noexcept {
  for (const LayoutNode& leaf : leaves) {
    const Grid grid{.rows = static_cast<std::int64_t>(rows),
                    .row_stride = node.stride,
                    .packed_row_stride = static_cast<std::int64_t>(node.bytes),
                    .columns = static_cast<std::int64_t>(leaf.count),
                    .column_stride = leaf.stride};
    copy_grid<Direction>(grid, leaf.bytes, at(user, leaf.offset), packed);
    packed += packed_bytes(leaf);
  }
}

/// Repetitions of which all leaves are copied before the next ones are touched, so that they stay in the cache.
constexpr std::uint64_t kRowsAtOnce = 64;

template <class Direction>
void copy_trees(Trees trees, typename Direction::User base, typename Direction::Packed packed) noexcept;

template <class Direction>
void copy_repetitions(const LayoutNode& node, Trees children, typename Direction::User user,
                      typename Direction::Packed packed) noexcept {
  const bool only_leaves = children.size() == node.children;
  const std::uint64_t step = only_leaves ? kRowsAtOnce : 1;
  for (std::uint64_t i = 0; i < node.count; i += step) {
    const auto begin = at(user, static_cast<std::int64_t>(i) * node.stride);
    const auto packed_begin = packed + i * node.bytes;
    if (only_leaves) {
      copy_leaves<Direction>(node, children, std::min(step, node.count - i), begin, packed_begin);
    } else {
      copy_trees<Direction>(children, begin, packed_begin);
    }
  }
}

/// `user` is where the first repetition begins.
template <class Direction>
void copy_tree(const LayoutNode& root, Trees children, typename Direction::User user,
               typename Direction::Packed packed) noexcept {
  if (!children.empty()) return copy_repetitions<Direction>(root, children, user, packed);
  const Grid row{.columns = static_cast<std::int64_t>(root.count), .column_stride = root.stride};
  copy_grid<Direction>(row, root.bytes, user, packed);
}

template <class Direction>
void copy_trees(Trees trees, typename Direction::User base, typename Direction::Packed packed) noexcept {
  for_each_tree(trees, [&packed, base](const LayoutNode& root, Trees children) {
    copy_tree<Direction>(root, children, at(base, root.offset), packed);
    packed += packed_bytes(root);
  });
}

template <class Direction>
void copy_range(Trees trees, PackedRange range, typename Direction::User base,
                typename Direction::Packed packed) noexcept;

/// A part of one tree: the end of a repetition, whole ones, and the beginning of another.
template <class Direction>
void copy_part(const LayoutNode& root, Trees children, PackedRange range, typename Direction::User user,
               typename Direction::Packed packed) noexcept {
  std::uint64_t repetition = range.first / root.bytes;
  const auto place = [&] { return at(user, static_cast<std::int64_t>(repetition) * root.stride); };
  const auto copy_inside = [&](PackedRange inside) {
    if (children.empty())
      Direction::copy(place() + inside.first, packed, inside.bytes);
    else
      copy_range<Direction>(children, inside, place(), packed);
    packed += inside.bytes;
    range.bytes -= inside.bytes;
  };
  if (const std::uint64_t skipped = range.first % root.bytes; skipped > 0) {
    copy_inside({skipped, std::min(root.bytes - skipped, range.bytes)});
    ++repetition;
  }
  LayoutNode whole = root;
  whole.count = range.bytes / root.bytes;
  if (whole.count > 0) {
    copy_tree<Direction>(whole, children, place(), packed);
    packed += packed_bytes(whole);
    range.bytes -= packed_bytes(whole);
    repetition += whole.count;
  }
  if (range.bytes > 0) copy_inside({0, range.bytes});
}

template <class Direction>
void copy_range(Trees trees, PackedRange range, typename Direction::User base,
                typename Direction::Packed packed) noexcept {
  for (; range.bytes > 0; trees = trees.subspan(trees.front().nodes)) {
    const LayoutNode& root = trees.front();
    const std::uint64_t bytes = packed_bytes(root);
    if (range.first >= bytes) {
      range.first -= bytes;
      continue;
    }
    const std::uint64_t taken = std::min(range.bytes, bytes - range.first);
    const Trees children = trees.subspan(1, root.nodes - 1);
    if (taken == bytes)
      copy_tree<Direction>(root, children, at(base, root.offset), packed);
    else
      copy_part<Direction>(root, children, {range.first, taken}, at(base, root.offset), packed);
    packed += taken;
    range = {0, range.bytes - taken};
  }
}

}  // namespace

void pack(std::span<const LayoutNode> nodes, const std::byte* base, std::byte* packed) noexcept {
  copy_trees<Pack>(nodes, base, packed);
}

void unpack(std::span<const LayoutNode> nodes, const std::byte* packed, std::byte* base) noexcept {
  copy_trees<Unpack>(nodes, base, packed);
}

void pack(std::span<const LayoutNode> nodes, const std::byte* base, PackedRange range, std::byte* packed) noexcept {
  copy_range<Pack>(nodes, range, base, packed);
}

void unpack(std::span<const LayoutNode> nodes, PackedRange range, const std::byte* packed, std::byte* base) noexcept {
  copy_range<Unpack>(nodes, range, base, packed);
}

}  // namespace fab
