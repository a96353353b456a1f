#include "support/neighbors.h"

#include <fmt/format.h>

#include <exception>
#include <stdexcept>

#include "apps/mpi_call.h"

namespace bench {
namespace {

using apps::check_mpi;

std::vector<int> dims_of(Pattern pattern, int ranks) {
  if (pattern == Pattern::pair) return {};
  std::vector<int> dims(pattern == Pattern::ring ? 1 : 3, 0);
  check_mpi(MPI_Dims_create(ranks, static_cast<int>(dims.size()), dims.data()), "MPI_Dims_create");
  return dims;
}

MPI_Comm make_grid(const std::vector<int>& dims) {
  const std::vector<int> periodic(dims.size(), 1);
  MPI_Comm comm = MPI_COMM_NULL;
  check_mpi(MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(dims.size()), dims.data(), periodic.data(), /*reorder=*/0,
                            &comm),
            "MPI_Cart_create");
  return comm;
}

MPI_Comm make_pairs(int rank, int ranks) {
  if (ranks % 2 != 0) throw std::runtime_error(fmt::format("--pattern pair: {} ranks cannot be paired", ranks));
  const int partner = rank ^ 1;
  MPI_Comm comm = MPI_COMM_NULL;
  check_mpi(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &partner, MPI_UNWEIGHTED, 1, &partner, MPI_UNWEIGHTED,
                                           MPI_INFO_NULL, 0, &comm),
            "MPI_Dist_graph_create_adjacent");
  return comm;
}

}  // namespace

const char* name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::ring:
      return "ring";
    case Pattern::pair:
      return "pair";
    case Pattern::faces:
      return "faces";
  }
  return "";
}

Neighbors::Neighbors(Pattern pattern) : pattern_(pattern) {
  int ranks = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  dims_ = dims_of(pattern, ranks);
  comm_ = pattern == Pattern::pair ? make_pairs(rank_, ranks) : make_grid(dims_);
}

// An exception on its way ends the job, and an exchange may be left on the communicator.
Neighbors::~Neighbors() {
  if (std::uncaught_exceptions() > 0) return;
  if (MPI_Comm_free(&comm_) != MPI_SUCCESS) fmt::print(stderr, "MPI_Comm_free failed\n");
}

int Neighbors::neighbor(int block, Order order) const {
  if (pattern_ == Pattern::pair) return rank_ ^ 1;
  int negative = MPI_PROC_NULL;
  int positive = MPI_PROC_NULL;
  check_mpi(MPI_Cart_shift(comm_, block / 2, 1, &negative, &positive), "MPI_Cart_shift");
  return (block % 2 == 0) == (order == Order::fab) ? positive : negative;
}

bool Neighbors::has_single_peer() const {
  for (int block = 0; block < count(); ++block) {
    if (neighbor(block, Order::fab) != neighbor(0, Order::fab) || neighbor(block, Order::fab) == rank_) return false;
  }
  return true;
}

}  // namespace bench
