// Cartesian: ranks and coordinates of a grid, in row-major order, and the neighbours along its dimensions.
#include <fmt/core.h>

#include <limits>
#include <utility>

#include "fab/error.h"
#include "fab/topology.h"

namespace fab {
namespace {

int checked_size(std::span<const int> dims) {
  std::int64_t size = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < 1) {
      throw Error(Errc::invalid_topology, fmt::format("Cartesian: dims[{}] is {}; valid is 1 or more", d, dims[d]));
    }
    size *= dims[d];
    if (size > std::numeric_limits<int>::max()) {
      throw Error(Errc::invalid_topology,
                  fmt::format("Cartesian: dims[0] to dims[{}] multiply to {} ranks; valid are at most {}", d, size,
                              std::numeric_limits<int>::max()));
    }
  }
  return static_cast<int>(size);
}

void check_dimension(const char* call, Dimension dimension, int dimensions) {
  if (dimension >= Dimension{0} && dimension < Dimension{dimensions}) return;
  throw Error(Errc::invalid_argument, fmt::format("Cartesian::{}: dimension is {}; the grid has {} dimension(s), "
                                                  "counted from 0",
                                                  call, static_cast<int>(dimension), dimensions));
}

void check_rank(const char* call, Rank rank, int size) {
  if (rank >= 0 && rank < size) return;
  throw Error(Errc::invalid_rank,
              fmt::format("Cartesian::{}: rank is {}; valid are the ranks from 0 below {}", call, rank, size));
}

/// Coordinates of a rank that is known to be valid.
std::vector<int> locate(Rank rank, std::span<const int> dims) {
  std::vector<int> coordinates(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; rank /= dims[d]) coordinates[d] = rank % dims[d];
  return coordinates;
}

int wrap(std::int64_t coordinate, int extent) {
  const auto remainder = static_cast<int>(coordinate % extent);
  return remainder < 0 ? remainder + extent : remainder;
}

}  // namespace

Cartesian::Cartesian(std::vector<int> dims, std::vector<bool> periodic)
    : dims_(std::move(dims)), periodic_(std::move(periodic)) {
  if (dims_.size() != periodic_.size()) {
    throw Error(Errc::invalid_topology,
                fmt::format("Cartesian: periodic has {} entries and dims has {}; their lengths must be equal",
                            periodic_.size(), dims_.size()));
  }
  size_ = checked_size(dims_);
}

bool Cartesian::periodic(Dimension dimension) const {
  check_dimension("periodic", dimension, dimensions());
  return periodic_[static_cast<std::size_t>(dimension)];
}

std::vector<int> Cartesian::coordinates(Rank rank) const {
  check_rank("coordinates", rank, size_);
  return locate(rank, dims_);
}

Rank Cartesian::rank_at(std::span<const int> coordinates) const {
  if (coordinates.size() != dims_.size()) {
    throw Error(Errc::invalid_argument, fmt::format("Cartesian::rank_at: {} coordinate(s) given; the grid has {} "
                                                    "dimension(s)",
                                                    coordinates.size(), dims_.size()));
  }
  Rank rank = 0;
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    if (!periodic_[d] && (coordinates[d] < 0 || coordinates[d] >= dims_[d])) {
      throw Error(
          Errc::invalid_argument,
          fmt::format("Cartesian::rank_at: coordinates[{}] is {}; valid in this non-periodic dimension is 0 to {}", d,
                      coordinates[d], dims_[d] - 1));
    }
    rank = rank * dims_[d] + wrap(coordinates[d], dims_[d]);
  }
  return rank;
}

std::optional<Rank> Cartesian::neighbor(const std::vector<int>& coordinates, int dimension,
                                        std::int64_t displacement) const {
  const auto moved_dimension = static_cast<std::size_t>(dimension);
  const int extent = dims_[moved_dimension];
  const std::int64_t target = coordinates[moved_dimension] + displacement;
  if (!periodic_[moved_dimension] && (target < 0 || target >= extent)) return std::nullopt;
  std::vector<int> moved = coordinates;
  moved[moved_dimension] = wrap(target, extent);
  return rank_at(moved);
}

Cartesian::ShiftRanks Cartesian::shift(Rank rank, Dimension dimension, int displacement) const {
  check_rank("shift", rank, size_);
  check_dimension("shift", dimension, dimensions());
  const std::vector<int> here = locate(rank, dims_);
  return {.source = neighbor(here, static_cast<int>(dimension), -std::int64_t{displacement}),
          .destination = neighbor(here, static_cast<int>(dimension), displacement)};
}

Neighborhood Cartesian::neighborhood(Rank rank) const {
  check_rank("neighborhood", rank, size_);
  const std::vector<int> here = locate(rank, dims_);
  Neighborhood result;
  for (int dimension = 0; dimension < dimensions(); ++dimension) {
    // The slot of an edge is the direction in which its data travels, so what comes from the neighbour
    // in direction +d carries the slot of -d.
    const auto plus = static_cast<std::uint32_t>(2 * dimension);
    const std::uint32_t minus = plus + 1;
    if (const auto peer = neighbor(here, dimension, +1)) {
      result.destinations.push_back({*peer, plus});
      result.sources.push_back({*peer, minus});
    }
    if (const auto peer = neighbor(here, dimension, -1)) {
      result.destinations.push_back({*peer, minus});
      result.sources.push_back({*peer, plus});
    }
  }
  return result;
}

}  // namespace fab
