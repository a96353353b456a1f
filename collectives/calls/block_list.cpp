#include "collectives/calls/block_list.h"

#include <algorithm>
#include <vector>

namespace fab::collectives {

BlockList BlockList::irregular(const Layout& element, Integers counts, Integers displacements) noexcept {
  BlockList list;
  list.form_ = Form::irregular;
  list.element_ = &element;
  list.blocks_ = counts.size();
  list.counts_ = counts;
  list.displacements_ = displacements;
  return list;
}

BlockList BlockList::general(std::span<const BlockShape> blocks) noexcept {
  BlockList list;
  list.form_ = Form::general;
  list.blocks_ = blocks.size();
  list.shapes_ = blocks.data();
  return list;
}

BlockList BlockList::views(std::span<const BlockView> blocks) noexcept {
  BlockList list;
  list.form_ = Form::views;
  list.blocks_ = blocks.size();
  list.views_ = blocks.data();
  return list;
}

BlockView BlockList::operator[](std::size_t i) const noexcept {
  switch (form_) {
    case Form::regular:
      return {static_cast<std::ptrdiff_t>(i * elements_) * element_->extent(), elements_, element_};
    case Form::irregular:
      return {displacements_[i] * element_->extent(), static_cast<std::size_t>(counts_[i]), element_};
    case Form::views:
      return views_[i];
    default:
      return {shapes_[i].offset, 1, &shapes_[i].layout};
  }
}

Block BlockList::range(BufferId buffer, int first, int count) const {
  const auto begin = static_cast<std::size_t>(first) % blocks_;
  const auto end = begin + static_cast<std::size_t>(count);
  if (count == 1) return (*this)[begin].in(buffer);
  std::vector<Layout::Field> fields;
  if (form_ == Form::regular) {  // what goes round is in two pieces
    const std::size_t turn = std::min(end, blocks_);
    fields.push_back({(turn - begin) * elements_, (*this)[begin].offset, *element_});
    fields.push_back({(end - turn) * elements_, 0, *element_});
  } else {
    for (std::size_t i = begin; i < end; ++i) {
      const BlockView block = (*this)[i % blocks_];
      fields.push_back({block.count, block.offset, *block.element});
    }
  }
  return {buffer, 0, Layout::structure(fields)};
}

// A part of every start: the usual list has no more to say than the first words.
void BlockList::describe(core::CallShape& shape) const {
  shape.add(static_cast<std::uint64_t>(blocks_) * kForms + static_cast<std::uint64_t>(form_));
  if (element_ != nullptr) shape.add(*element_);
  if (form_ == Form::regular) return shape.add(static_cast<std::uint64_t>(elements_));
  describe_each(shape);
}

void BlockList::describe_each(core::CallShape& shape) const {
  for (std::size_t i = 0; i < counts_.size(); ++i) shape.add(counts_[i]);
  for (std::size_t i = 0; i < displacements_.size(); ++i) shape.add(displacements_[i]);
  if (form_ == Form::irregular) return;
  for (std::size_t i = 0; i < blocks_; ++i) {
    const BlockView block = (*this)[i];
    shape.add(static_cast<std::int64_t>(block.offset));
    shape.add(static_cast<std::uint64_t>(block.count));
    shape.add(*block.element);
  }
}

}  // namespace fab::collectives
