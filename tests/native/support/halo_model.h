// The expected value of each cell after a halo exchange: a function of the cell's place in the whole domain.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fab/halo.h"

namespace fab::test {

/// The first ranks form the grid. Blocks along a dimension have `interior` cells, every other one a cell more if
/// uneven.
struct HaloCase {
  std::string name;
  std::vector<int> grid;
  std::vector<bool> periodic;
  std::vector<std::size_t> interior;
  std::vector<std::size_t> width;
  std::size_t words = 1;  ///< of 8 bytes, of a cell
  bool corners = false;
  bool uneven = false;
  int buffers = 1;
  std::vector<std::span<std::byte>> memory{};
};

class HaloModel {
 public:
  HaloModel(const HaloCase& its_case, Rank rank);

  [[nodiscard]] HaloOptions options() const;
  /// Own cells get the values of an iteration, all others a mark.
  void fill(const HaloExchange& halo, std::span<std::uint64_t> field, std::uint64_t iteration) const;
  /// The first cell, of all or of a box, that is not what fill made its owner's; empty: none.
  [[nodiscard]] std::string find_fault(const HaloExchange& halo, std::span<const std::uint64_t> field,
                                       std::uint64_t iteration, const std::optional<Box>& box = std::nullopt) const;

 private:
  static constexpr std::uint64_t kUntouched = 0xeeeeeeeeeeeeeeeeull;

  [[nodiscard]] std::size_t interior_of(std::size_t dimension, int coordinate) const;
  [[nodiscard]] std::size_t cells_before(std::size_t dimension, int coordinate) const;
  [[nodiscard]] bool is_own(const std::vector<std::size_t>& cell) const;
  [[nodiscard]] std::uint64_t expected(const std::vector<std::size_t>& cell, std::uint64_t iteration,
                                       std::size_t word) const;

  HaloCase case_;
  std::vector<int> coordinates_;
  std::vector<std::size_t> block_;
};

}  // namespace fab::test
