// Constructors of compound layouts: each builds its loops and computes its bounds.
#include <fmt/core.h>

#include "core/layout/bounds.h"
#include "core/layout/checked.h"
#include "core/layout/forest.h"
#include "fab/layout.h"

namespace fab {
namespace {

/// Fields at their displacements, as they are added one by one.
struct Assembly {
  Forest forest;
  Bounds bounds;

  void add(std::size_t count, std::ptrdiff_t displacement, const Layout& element) {
    bounds = join(bounds, repeat(bounds_of(element), count, element.extent(), displacement));
    forest.append_unit(count, element.extent(), displacement, element.nodes());
  }
};

void check_box(std::span<const std::size_t> sizes, std::span<const std::size_t> subsizes,
               std::span<const std::size_t> starts) {
  if (sizes.size() != subsizes.size() || sizes.size() != starts.size()) {
    throw Error(
        Errc::invalid_argument,
        fmt::format("Layout::subarray: sizes, subsizes and starts have {}, {} and {} entries; their lengths must "
                    "be equal",
                    sizes.size(), subsizes.size(), starts.size()));
  }
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (subsizes[d] <= sizes[d] && starts[d] <= sizes[d] - subsizes[d]) continue;
    throw Error(Errc::invalid_argument,
                fmt::format("Layout::subarray: in dimension {} the box has start {} and subsize {}; it must lie inside "
                            "the array's size {}",
                            d, starts[d], subsizes[d], sizes[d]));
  }
}

}  // namespace

Layout Layout::contiguous(std::size_t bytes) {
  const std::int64_t extent = checked_multiply(bytes, 1);
  if (bytes == 0) return {};
  // Calls that take spans ask for the same one again and again.
  thread_local Layout latest;
  if (latest.size() != bytes) latest = build({LayoutNode{.count = 1, .bytes = bytes}}, 0, extent);
  return latest;
}

Layout Layout::vector(std::size_t count, std::size_t block_length, std::ptrdiff_t stride_bytes, const Layout& element) {
  const Bounds block_bounds = repeat(bounds_of(element), block_length, element.extent(), 0);
  const Bounds bounds = repeat(block_bounds, count, stride_bytes, 0);
  Forest block;
  block.append_loop(block_length, element.extent(), 0, element.nodes());
  Forest all;
  all.append_loop(count, stride_bytes, 0, block.trees());
  return build(std::move(all).take(), bounds.lower, bounds.extent());
}

Layout Layout::indexed(std::span<const std::size_t> block_lengths, std::span<const std::ptrdiff_t> displacement_bytes,
                       const Layout& element) {
  if (block_lengths.size() != displacement_bytes.size()) {
    throw Error(
        Errc::invalid_argument,
        fmt::format("Layout::indexed: block_lengths has {} entries and displacement_bytes has {}; their lengths "
                    "must be equal",
                    block_lengths.size(), displacement_bytes.size()));
  }
  Assembly all;
  for (std::size_t i = 0; i < block_lengths.size(); ++i) all.add(block_lengths[i], displacement_bytes[i], element);
  return build(all.forest.ungrouped().take(), all.bounds.lower, all.bounds.extent());
}

Layout Layout::structure(std::span<const Field> fields) {
  Assembly all;
  for (const Field& field : fields) all.add(field.count, field.displacement, field.element);
  return build(all.forest.ungrouped().take(), all.bounds.lower, all.bounds.extent());
}

Layout Layout::subarray(std::span<const std::size_t> sizes, std::span<const std::size_t> subsizes,
                        std::span<const std::size_t> starts, const Layout& element) {
  check_box(sizes, subsizes, starts);
  Forest box;
  box.append(element.nodes(), 0);
  std::int64_t stride = element.extent();
  for (std::size_t d = sizes.size(); d-- > 0;) {
    const std::int64_t whole = checked_multiply(sizes[d], stride);
    Forest repeated;
    repeated.append_loop(subsizes[d], stride, checked_multiply(starts[d], stride), box.trees());
    box = std::move(repeated);
    stride = whole;
  }
  return build(std::move(box).take(), 0, stride);
}

}  // namespace fab
