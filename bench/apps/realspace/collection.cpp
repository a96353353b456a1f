#include "realspace/collection.h"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>

#include "mpi_call.h"
#include "realspace/input_error.h"
#include "realspace/molecule.h"
#include "realspace/partition.h"

namespace realspace {

using apps::check_mpi;

Team world_team() {
  Team team;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &team.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &team.ranks), "MPI_Comm_size");
  return team;
}

std::string broadcast(std::string text, const Team& team) {
  auto length = static_cast<int>(text.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  if (team.rank != 0) text.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return text;
}

std::string read_text_everywhere(const std::string& path, const Team& team) {
  std::string text;
  std::string error;
  if (team.rank == 0) {
    try {
      text = read_text_file(path);
    } catch (const InputError& caught) {
      error = caught.what();
    }
  }
  error = broadcast(error, team);
  if (!error.empty()) throw InputError(error);
  return broadcast(text, team);
}

std::vector<int> partition_everywhere(const Grid& grid, const Team& team) {
  if (static_cast<std::size_t>(team.ranks) > grid.size()) {
    throw InputError(
        fmt::format("{} ranks for {} grid points: there must be a point for every rank", team.ranks, grid.size()));
  }
  std::vector<int> part_of_point(grid.size());
  if (team.rank == 0) part_of_point = partition_points(grid, team.ranks);
  check_mpi(MPI_Bcast(part_of_point.data(), static_cast<int>(grid.size()), MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return part_of_point;
}

std::vector<double> gather_by_point(const Domain& domain, std::span<const double> owned, std::size_t width,
                                    std::size_t grid_points, const Team& team) {
  const auto count = static_cast<int>(domain.owned_count());
  std::vector<int> counts(static_cast<std::size_t>(team.ranks));
  check_mpi(MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
  std::vector<int> displacements(counts.size());
  for (std::size_t i = 1; i < counts.size(); ++i) displacements[i] = displacements[i - 1] + counts[i - 1];

  const std::size_t received = team.rank == 0 ? grid_points : 0;
  std::vector<std::int32_t> points(received);
  std::vector<double> values(received * width);
  check_mpi(MPI_Gatherv(domain.owned.data(), count, MPI_INT32_T, points.data(), counts.data(), displacements.data(),
                        MPI_INT32_T, 0, MPI_COMM_WORLD),
            "MPI_Gatherv");
  MPI_Datatype slot = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(width), MPI_DOUBLE, &slot), "MPI_Type_contiguous");
  check_mpi(MPI_Type_commit(&slot), "MPI_Type_commit");
  check_mpi(MPI_Gatherv(owned.data(), count, slot, values.data(), counts.data(), displacements.data(), slot, 0,
                        MPI_COMM_WORLD),
            "MPI_Gatherv");
  check_mpi(MPI_Type_free(&slot), "MPI_Type_free");
  std::vector<double> by_point(received * width);
  for (std::size_t i = 0; i < received; ++i) {
    std::copy_n(&values[i * width], width, &by_point[static_cast<std::size_t>(points[i]) * width]);
  }
  return by_point;
}

void sum_in_place(std::span<double> values) {
  check_mpi(
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
      "MPI_Allreduce");
}

double sum_over_ranks(double value) {
  sum_in_place({&value, 1});
  return value;
}

double largest_of_ranks(double value) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return value;
}

std::vector<double> means_over_ranks(const std::vector<double>& values, const Team& team) {
  std::vector<double> means(values.size());
  check_mpi(
      MPI_Reduce(values.data(), means.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD),
      "MPI_Reduce");
  for (double& mean : means) mean /= team.ranks;
  return means;
}

}  // namespace realspace
