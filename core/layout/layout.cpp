// Layout: a description of bytes in memory that cannot be changed and is cheap to copy.
#include "fab/layout.h"

#include <utility>

#include "core/base/hash.h"
#include "core/layout/checked.h"
#include "core/layout/forest.h"
#include "core/layout/shape.h"

namespace fab {

std::uint64_t Layout::Shape::hash_of(const Shape& shape) noexcept {
  std::uint64_t hash = shape.nodes.size();
  const auto add = [&hash](auto value) { hash = core::hash_with(hash, static_cast<std::uint64_t>(value)); };
  add(shape.lower_bound);
  add(shape.extent);
  for (const LayoutNode& node : shape.nodes) {
    add(node.offset);
    add(node.stride);
    add(node.count);
    add(node.bytes);
    add(node.nodes);
  }
  return hash;
}

Layout::Layout(std::shared_ptr<const Shape> shape) : shape_(std::move(shape)) {}

Layout::Layout() {
  // As long as the process: threads may outlive main.
  static const auto& empty = *new auto(std::make_shared<const Shape>(std::vector<LayoutNode>{}, 0, 0));
  shape_ = empty;
}

Layout Layout::build(std::vector<LayoutNode> children, std::ptrdiff_t lower_bound, std::ptrdiff_t extent) {
  return Layout(std::make_shared<const Shape>(std::move(children), lower_bound, extent));
}

Layout Layout::resized(std::ptrdiff_t lower_bound, std::ptrdiff_t extent) const {
  return build(shape_->nodes, lower_bound, extent);
}

Layout Layout::repeated(std::size_t count) const { return count == 1 ? *this : vector(count, 1, extent(), *this); }

Layout Layout::shifted(std::ptrdiff_t bytes) const {
  Forest forest;
  forest.append(nodes(), bytes);
  return build(std::move(forest).take(), checked_add(lower_bound(), bytes), extent());
}

std::size_t Layout::size() const noexcept { return shape_->summary.bytes; }
std::ptrdiff_t Layout::lower_bound() const noexcept { return shape_->lower_bound; }
std::ptrdiff_t Layout::extent() const noexcept { return shape_->extent; }
std::ptrdiff_t Layout::true_lower_bound() const noexcept { return shape_->summary.low; }
std::ptrdiff_t Layout::true_upper_bound() const noexcept { return shape_->summary.high; }
bool Layout::is_contiguous() const noexcept { return shape_->summary.pieces <= 1; }
std::size_t Layout::piece_count() const noexcept { return shape_->summary.pieces; }
std::span<const LayoutNode> Layout::nodes() const noexcept { return shape_->nodes; }

std::uint64_t Layout::hash() const noexcept { return shape_->hash; }

bool Layout::operator==(const Layout& other) const noexcept {
  return shape_ == other.shape_ ||
         (lower_bound() == other.lower_bound() && extent() == other.extent() && shape_->nodes == other.shape_->nodes);
}

void Layout::pack(const void* base, void* packed) const noexcept {
  fab::pack(nodes(), static_cast<const std::byte*>(base), static_cast<std::byte*>(packed));
}

void Layout::unpack(const void* packed, void* base) const noexcept {
  fab::unpack(nodes(), static_cast<const std::byte*>(packed), static_cast<std::byte*>(base));
}

}  // namespace fab
