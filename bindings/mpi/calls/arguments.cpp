#include "bindings/mpi/calls/arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/datatypes/datatype.h"

namespace fab::mpi {

using collectives::BlockList;
using collectives::BlockView;

void check_count(std::string_view name, int count) {
  if (count < 0) throw BadArgument(MPI_ERR_COUNT, fmt::format("{}count is {}; valid is 0 or more", name, count));
}

void check_not_negative(std::string_view name, std::span<const int> counts) {
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] < 0)
      throw BadArgument(MPI_ERR_COUNT, fmt::format("{}counts[{}] is {}; valid is 0 or more", name, i, counts[i]));
}

namespace {

void check_not_in_place(std::string_view name, const void* buffer) {
  if (buffer == MPI_IN_PLACE)
    throw BadArgument(MPI_ERR_BUFFER, fmt::format("{}buf is MPI_IN_PLACE; only sendbuf may be", name));
}

}  // namespace

void check_counts(const Side& side, std::size_t blocks) {
  if (blocks == 0) return;  // MPI allows null arrays then
  if (side.counts == nullptr) throw Failure(MPI_ERR_ARG, fmt::format("{}counts is a null pointer", side.name));
  if (side.displacements == nullptr)
    throw Failure(MPI_ERR_ARG, fmt::format("{}displs is a null pointer", side.name.substr(0, 1)));
  check_not_negative(side.name, {side.counts, blocks});
}

void check_buffer(const Side& side, const Layout& element, bool any_elements) {
  check_not_in_place(side.name, side.buffer);
  if (side.buffer == nullptr && any_elements && element.size() > 0 && element.true_lower_bound() == 0)
    throw Failure(MPI_ERR_BUFFER, fmt::format("{}buf is a null pointer", side.name));
}

BlockList equal_blocks(const Side& side, std::size_t blocks) {
  check_count(side.name, side.count);
  const Layout& element = layout_of(side.type);
  check_buffer(side, element, side.count > 0 && blocks > 0);
  return BlockList::regular(element, static_cast<std::size_t>(side.count), blocks);
}

BlockList varied_blocks(const Side& side, std::size_t blocks) {
  check_counts(side, blocks);
  const Layout& element = layout_of(side.type);
  const std::span<const int> counts(side.counts, blocks);
  const bool any = std::any_of(counts.begin(), counts.end(), [](int count) { return count > 0; });
  check_buffer(side, element, any);
  return BlockList::irregular(element, counts, {side.displacements, blocks});
}

BlockView single_block(const Side& side) {
  check_count(side.name, side.count);
  const Layout& element = layout_of(side.type);
  check_buffer(side, element, side.count > 0);
  return {0, static_cast<std::size_t>(side.count), &element};
}

namespace {

template <class Displacement>
void check_arrays(const TypedSide<Displacement>& side, std::size_t blocks) {
  if (blocks == 0) return;  // MPI allows null arrays then
  const auto check = [&](const void* array, std::string_view side_name, std::string_view what) {
    if (array == nullptr) throw Failure(MPI_ERR_ARG, fmt::format("{}{} is a null pointer", side_name, what));
  };
  check(side.counts, side.name, "counts");
  check(side.displacements, side.name.substr(0, 1), "displs");
  check(side.types, side.name, "types");
}

template <class Displacement>
BlockView typed_block(const TypedSide<Displacement>& side, std::size_t i) try {
  const Layout& element = layout_of(side.types[i]);
  const auto offset = static_cast<std::ptrdiff_t>(side.displacements[i]);
  const bool at_null = side.buffer == nullptr && offset + element.true_lower_bound() == 0;
  if (at_null && side.counts[i] > 0 && element.size() > 0)
    throw Failure(MPI_ERR_BUFFER, fmt::format("{}buf is a null pointer", side.name));
  return {offset, static_cast<std::size_t>(side.counts[i]), &element};
} catch (const Failure& failure) {
  if (failure.error_class() != MPI_ERR_TYPE) throw;
  throw BadArgument(MPI_ERR_TYPE, fmt::format("{}types[{}]: {}", side.name, i, failure.what()));
}

}  // namespace

template <class Displacement>
BlockList typed_blocks(const TypedSide<Displacement>& side, std::size_t blocks) {
  check_arrays(side, blocks);
  check_not_in_place(side.name, side.buffer);
  check_not_negative(side.name, {side.counts, blocks});
  side.views->clear();
  for (std::size_t i = 0; i < blocks; ++i) side.views->push_back(typed_block(side, i));
  return BlockList::views(*side.views);
}

template BlockList typed_blocks(const TypedSide<int>&, std::size_t);
template BlockList typed_blocks(const TypedSide<MPI_Aint>&, std::size_t);

void check_direction(const core::Communicator& core, int direction) {
  const auto* grid = std::get_if<Cartesian>(core.topology());
  if (grid == nullptr)
    throw Failure(MPI_ERR_TOPOLOGY,
                  fmt::format("comm has a {}; a Cartesian topology is needed", to_string(*core.topology())));
  if (direction < 0 || direction >= grid->dimensions())
    throw Failure(MPI_ERR_DIMS, fmt::format("direction is {}; the communicator has {} dimension(s), counted from 0",
                                            direction, grid->dimensions()));
}

}  // namespace fab::mpi
