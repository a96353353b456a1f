// list_pieces: the contiguous pieces of memory that a layout describes, in their order.
#include "core/layout/tree.h"

namespace fab {
namespace {

/// Fills an array with pieces; adjacent ones become one.
class PieceWriter {
 public:
  explicit PieceWriter(std::span<Piece> out) : out_(out) {}

  /// False when the piece does not fit any more.
  bool add(std::int64_t offset, std::uint64_t bytes) noexcept {
    if (written_ > 0 && end_ == offset) {
      out_[written_ - 1].bytes += bytes;
    } else if (written_ < out_.size()) {
      out_[written_++] = {offset, bytes};
    } else {
      return false;
    }
    end_ = offset + static_cast<std::int64_t>(bytes);
    return true;
  }

  /// Adds all pieces of the trees; false when one did not fit.
  bool add(Trees trees, std::int64_t base) noexcept {
    for (; !trees.empty(); trees = trees.subspan(trees.front().nodes)) {
      if (!add_tree(trees.first(trees.front().nodes), base)) return false;
    }
    return true;
  }

  [[nodiscard]] std::size_t written() const noexcept { return written_; }

 private:
  bool add_tree(Trees tree, std::int64_t base) noexcept {
    const LayoutNode& root = tree.front();
    std::int64_t offset = base + root.offset;
    for (std::uint64_t i = 0; i < root.count; ++i) {
      if (i > 0) offset += root.stride;
      if (root.children == 0 ? !add(offset, root.bytes) : !add(tree.subspan(1), offset)) return false;
    }
    return true;
  }

  std::span<Piece> out_;
  std::size_t written_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace

std::size_t list_pieces(std::span<const LayoutNode> nodes, std::span<Piece> out) noexcept {
  PieceWriter writer(out);
  writer.add(nodes, 0);
  return writer.written();
}

}  // namespace fab
