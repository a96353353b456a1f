#include "bindings/mpi/datatypes/distributed_array.h"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace fab::mpi {

namespace {

/// One dimension of the array and of the grid.
struct Dimension {
  int size;          ///< of the array
  int distribution;  ///< MPI_DISTRIBUTE_...
  int argument;
  int processes;   ///< of the grid
  int coordinate;  ///< of this process

  /// Indices come in blocks that the processes take in turns; one turn is all of them for MPI_DISTRIBUTE_BLOCK.
  [[nodiscard]] int block() const {
    if (distribution == MPI_DISTRIBUTE_NONE) return size;
    if (argument != MPI_DISTRIBUTE_DFLT_DARG) return argument;
    return distribution == MPI_DISTRIBUTE_CYCLIC ? 1 : (size + processes - 1) / processes;
  }
  [[nodiscard]] std::int64_t first_index() const {
    return distribution == MPI_DISTRIBUTE_NONE ? 0 : static_cast<std::int64_t>(coordinate) * block();
  }
  [[nodiscard]] std::int64_t turn() const {
    return distribution == MPI_DISTRIBUTE_NONE ? size : static_cast<std::int64_t>(processes) * block();
  }
};

/// `inner` at every index that this process owns, `stride` bytes apart.
Layout along(const Dimension& dimension, const Layout& inner, std::ptrdiff_t stride) {
  std::vector<std::size_t> lengths;
  std::vector<std::ptrdiff_t> displacements;
  for (std::int64_t index = dimension.first_index(); index < dimension.size; index += dimension.turn()) {
    lengths.push_back(static_cast<std::size_t>(std::min<std::int64_t>(dimension.block(), dimension.size - index)));
    displacements.push_back(index * stride);
  }
  return Layout::indexed(lengths, displacements, inner.resized(0, stride));
}

/// Processes are numbered row by row, in both orders of the array.
std::vector<int> coordinates_of(int rank, std::span<const int> processes) {
  std::vector<int> coordinates(processes.size());
  for (std::size_t d = processes.size(); d-- > 0;) {
    coordinates[d] = rank % processes[d];
    rank /= processes[d];
  }
  return coordinates;
}

}  // namespace

Layout distributed_array(const std::vector<int>& integers, const Layout& element) {
  const int rank = integers.at(1);
  const auto dimensions = static_cast<std::size_t>(integers.at(2));
  const std::span<const int> lists = std::span(integers).subspan(3, 4 * dimensions);
  const bool fortran = integers.back() == MPI_ORDER_FORTRAN;
  const std::span<const int> processes = lists.subspan(3 * dimensions);
  const std::vector<int> coordinates = coordinates_of(rank, processes);

  Layout part = element;
  std::ptrdiff_t stride = element.extent();
  for (std::size_t step = 0; step < dimensions; ++step) {
    const std::size_t d = fortran ? step : dimensions - 1 - step;
    const Dimension dimension{lists[d], lists[dimensions + d], lists[2 * dimensions + d], processes[d], coordinates[d]};
    part = along(dimension, part, stride);
    stride *= dimension.size;
  }
  return part;
}

}  // namespace fab::mpi
