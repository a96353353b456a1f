// Layouts: which bytes in memory belong to a block of data, and in which order. MPI datatypes flatten to layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fab/api.h"

namespace fab {

/// One node of a flattened layout: `count` repetitions, `stride` bytes apart, of either one contiguous
/// block of `bytes` bytes (a leaf, `children` == 0) or of the `children` sub-trees that follow.
/// Nodes stand in depth-first order; `nodes` is the length of the whole sub-tree, this node included,
/// so the next sibling of node i is node i + nodes; a layout is a list of such trees. Trivially copyable
/// and free of pointers: a schedule stores layouts as plain arrays of these.
struct LayoutNode {
  std::int64_t offset = 0;     ///< bytes from the parent's repetition to the first repetition of this node
  std::int64_t stride = 0;     ///< bytes from one repetition to the next; irrelevant when count == 1
  std::uint64_t count = 0;     ///< repetitions
  std::uint64_t bytes = 0;     ///< bytes of one repetition's data (leaf: contiguous; inner: packed size)
  std::uint32_t children = 0;  ///< sub-trees that a repetition consists of; 0: a leaf
  std::uint32_t nodes = 1;     ///< nodes of the sub-tree, this one included

  bool operator==(const LayoutNode&) const = default;  ///< member by member
};

/// A contiguous piece of a layout.
struct Piece {
  std::int64_t offset = 0;  ///< bytes from the buffer's base
  std::uint64_t bytes = 0;  ///< length

  bool operator==(const Piece&) const = default;  ///< the same offset and length
};

/// An immutable description of the bytes, relative to a base address, that belong to a block, and of the order in which
/// they travel (the type map of MPI-4.1, chapter 5.1). Copies are cheap (shared). Construction merges adjacent pieces,
/// so equal shapes built in different ways mostly compare equal. Bounds are those of MPI-4.1, section 5.1.6, without
/// padding for alignment; a part whose size, lower bound and extent are 0 does not affect them. Every function that
/// builds a layout throws Error(invalid_argument) if a size or offset does not fit in 63 bits.
class FAB_API Layout {
 public:
  /// The empty layout: no bytes, extent 0.
  Layout();

  /// `bytes` adjacent bytes.
  static Layout contiguous(std::size_t bytes);
  /// `count` blocks of `block_length` elements, their starts `stride_bytes` apart (MPI_Type_create_hvector).
  static Layout vector(std::size_t count, std::size_t block_length, std::ptrdiff_t stride_bytes, const Layout& element);
  /// Blocks of block_lengths[i] elements at displacement_bytes[i] (MPI_Type_create_hindexed).
  /// Throws Error(invalid_argument) when the arrays differ in length.
  static Layout indexed(std::span<const std::size_t> block_lengths, std::span<const std::ptrdiff_t> displacement_bytes,
                        const Layout& element);
  /// A box of `subsizes` elements at `starts` inside an array of `sizes`, last dimension contiguous (C order). Lower
  /// bound 0, extent that of the whole array (MPI_Type_create_subarray). Throws Error(invalid_argument) if the box does
  /// not lie inside the array, or if the arrays differ in length.
  static Layout subarray(std::span<const std::size_t> sizes, std::span<const std::size_t> subsizes,
                         std::span<const std::size_t> starts, const Layout& element);
  struct Field;
  /// The fields in the given order, each of `count` elements at its displacement (MPI_Type_create_struct).
  static Layout structure(std::span<const Field> fields);

  /// This layout with another lower bound and extent, in bytes (MPI_Type_create_resized).
  [[nodiscard]] Layout resized(std::ptrdiff_t lower_bound, std::ptrdiff_t extent) const;
  /// `count` copies of this layout, one extent apart (MPI_Type_contiguous).
  [[nodiscard]] Layout repeated(std::size_t count) const;
  /// This layout, `bytes` bytes further on.
  [[nodiscard]] Layout shifted(std::ptrdiff_t bytes) const;

  [[nodiscard]] std::size_t size() const noexcept;                   ///< bytes of data
  [[nodiscard]] std::ptrdiff_t lower_bound() const noexcept;         ///< bytes
  [[nodiscard]] std::ptrdiff_t extent() const noexcept;              ///< bytes from one element to the next
  [[nodiscard]] std::ptrdiff_t true_lower_bound() const noexcept;    ///< first byte of data
  [[nodiscard]] std::ptrdiff_t true_upper_bound() const noexcept;    ///< one past the last byte of data
  [[nodiscard]] bool is_contiguous() const noexcept;                 ///< all data in at most one piece
  [[nodiscard]] std::size_t piece_count() const noexcept;            ///< contiguous pieces in travelling order
  [[nodiscard]] std::span<const LayoutNode> nodes() const noexcept;  ///< empty for an empty layout
  [[nodiscard]] std::uint64_t hash() const noexcept;                 ///< equal layouts have equal hashes
  /// Sizes, bounds and the tree as text for people; of more than 32 nodes only the number.
  [[nodiscard]] std::string to_string() const;

  /// Whether lower bound, extent and nodes() are equal: then both name the same bytes in the same order. Some layouts
  /// that name the same bytes compare unequal, as not all ways to build a shape end in one tree.
  bool operator==(const Layout& other) const noexcept;

  /// Copies size() bytes from `base` + layout to `packed`, in travelling order.
  void pack(const void* base, void* packed) const noexcept;
  /// The inverse of pack. If the layout names a byte twice, either of its two values may remain.
  void unpack(const void* packed, void* base) const noexcept;

 private:
  struct Shape;
  explicit Layout(std::shared_ptr<const Shape> shape);
  static Layout build(std::vector<LayoutNode> children, std::ptrdiff_t lower_bound, std::ptrdiff_t extent);
  std::shared_ptr<const Shape> shape_;
};

/// A field of Layout::structure.
struct Layout::Field {
  std::size_t count = 1;            ///< elements, one extent apart
  std::ptrdiff_t displacement = 0;  ///< bytes
  Layout element;                   ///< the layout of one element
};

/// @{
/// Layout::pack and Layout::unpack for a node array, as a schedule stores it. An empty array is an empty layout.
FAB_API void pack(std::span<const LayoutNode> nodes, const std::byte* base, std::byte* packed) noexcept;
FAB_API void unpack(std::span<const LayoutNode> nodes, const std::byte* packed, std::byte* base) noexcept;
/// @}
/// A range of the packed bytes. It must lie inside the bytes that the layout packs to.
struct PackedRange {
  std::uint64_t first = 0;  ///< position of its first byte among the packed bytes
  std::uint64_t bytes = 0;  ///< length
};
/// @{
/// These pack and unpack only `range`. `packed` points to the place of the first byte of the range.
FAB_API void pack(std::span<const LayoutNode> nodes, const std::byte* base, PackedRange range,
                  std::byte* packed) noexcept;
FAB_API void unpack(std::span<const LayoutNode> nodes, PackedRange range, const std::byte* packed,
                    std::byte* base) noexcept;
/// @}
/// The number of contiguous pieces.
[[nodiscard]] FAB_API std::size_t piece_count(std::span<const LayoutNode> nodes) noexcept;
/// Writes the first out.size() contiguous pieces, in travelling order, to `out`. Returns how many were written.
FAB_API std::size_t list_pieces(std::span<const LayoutNode> nodes, std::span<Piece> out) noexcept;

}  // namespace fab
