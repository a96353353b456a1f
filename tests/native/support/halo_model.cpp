#include "native/support/halo_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fab::test {

namespace {

/// Calls `visit(cell, index)` for each cell of a box in a field.
template <class Visit>
void for_each_cell(const HaloGeometry& geometry, const Box& box, Visit visit) {
  std::vector<std::size_t> cell = box.start;
  for (;;) {
    std::size_t index = 0;
    for (std::size_t d = 0; d < cell.size(); ++d) index += cell[d] * geometry.strides()[d];
    visit(cell, index);
    std::size_t d = cell.size();
    while (d > 0 && cell[d - 1] + 1 == box.start[d - 1] + box.size[d - 1]) {
      --d;
      cell[d] = box.start[d];
    }
    if (d == 0) return;
    ++cell[d - 1];
  }
}

Box whole(const HaloGeometry& geometry) {
  return {std::vector<std::size_t>(geometry.dimensions(), 0), {geometry.extents().begin(), geometry.extents().end()}};
}

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  return value ^ (value >> 29);
}

}  // namespace

HaloModel::HaloModel(const HaloCase& its_case, Rank rank) : case_(its_case) {
  const Cartesian grid(case_.grid, case_.periodic);
  coordinates_ = grid.coordinates(rank % grid.size());
  for (std::size_t d = 0; d < case_.grid.size(); ++d) block_.push_back(interior_of(d, coordinates_[d]));
}

HaloOptions HaloModel::options() const {
  return {.grid = case_.grid,
          .periodic = case_.periodic,
          .block = {.interior = block_,
                    .width = case_.width,
                    .element_bytes = case_.words * sizeof(std::uint64_t),
                    .corners = case_.corners},
          .buffers = case_.buffers,
          .memory = case_.memory};
}

std::size_t HaloModel::interior_of(std::size_t dimension, int coordinate) const {
  return case_.interior[dimension] + (case_.uneven && coordinate % 2 == 1 ? 1 : 0);
}

std::size_t HaloModel::cells_before(std::size_t dimension, int coordinate) const {
  std::size_t cells = 0;
  for (int c = 0; c < coordinate; ++c) cells += interior_of(dimension, c);
  return cells;
}

bool HaloModel::is_own(const std::vector<std::size_t>& cell) const {
  for (std::size_t d = 0; d < cell.size(); ++d)
    if (cell[d] < case_.width[d] || cell[d] >= case_.width[d] + block_[d]) return false;
  return true;
}

std::uint64_t HaloModel::expected(const std::vector<std::size_t>& cell, std::uint64_t iteration,
                                  std::size_t word) const {
  std::uint64_t value = iteration * 1000 + word;
  int sides = 0;
  for (std::size_t d = 0; d < cell.size(); ++d) {
    const std::size_t cells = cells_before(d, case_.grid[d]);
    const std::size_t place = cells + cells_before(d, coordinates_[d]) + cell[d] - case_.width[d];
    const bool inside = place >= cells && place < 2 * cells;
    if (!inside && !case_.periodic[d]) return kUntouched;
    if (cell[d] < case_.width[d] || cell[d] >= case_.width[d] + block_[d]) ++sides;
    value = mix(value * 1000003 + place % cells);
  }
  return sides > 1 && !case_.corners ? kUntouched : value;
}

void HaloModel::fill(const HaloExchange& halo, std::span<std::uint64_t> field, std::uint64_t iteration) const {
  for_each_cell(halo.geometry(), whole(halo.geometry()), [&](const std::vector<std::size_t>& cell, std::size_t index) {
    for (std::size_t word = 0; word < case_.words; ++word)
      field[index * case_.words + word] = is_own(cell) ? expected(cell, iteration, word) : kUntouched;
  });
}

std::string HaloModel::find_fault(const HaloExchange& halo, std::span<const std::uint64_t> field,
                                  std::uint64_t iteration, const std::optional<Box>& box) const {
  std::string fault;
  for_each_cell(halo.geometry(), box.value_or(whole(halo.geometry())),
                [&](const std::vector<std::size_t>& cell, std::size_t index) {
                  for (std::size_t word = 0; word < case_.words && fault.empty(); ++word) {
                    const std::uint64_t value = field[index * case_.words + word];
                    const std::uint64_t right = expected(cell, iteration, word);
                    if (value != right)
                      fault = fmt::format("{}: cell ({}), word {}, iteration {}: {:x} instead of {:x}", case_.name,
                                          fmt::join(cell, ","), word, iteration, value, right);
                  }
                });
  return fault;
}

}  // namespace fab::test
