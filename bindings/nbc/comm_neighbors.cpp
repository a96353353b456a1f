// NBC_Comm_neighbors_count, NBC_Comm_neighbors. Local: they need no transport.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "bindings/mpi/communicators/intra_communicator.h"
#include "bindings/mpi/communicators/topology.h"
#include "bindings/nbc/code.h"
#include "fab/nbc.h"

namespace fab::nbc {

namespace {

using mpi::require;

struct Degrees {
  int in = 0;
  int out = 0;
  int weighted = 0;
};

int kind_of(MPI_Comm comm) {
  if (!mpi::mpi_is_usable()) throw Failure(MPI_ERR_OTHER, "called before MPI_Init or after MPI_Finalize");
  mpi::check_communicator(comm);
  int kind = MPI_UNDEFINED;
  require(PMPI_Topo_test(comm, &kind), "MPI_Topo_test");
  return kind;
}

std::vector<int> graph_neighbors(MPI_Comm comm) {
  int rank = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return mpi::neighbors_of(comm, rank);
}

int dimensions_of(MPI_Comm comm) {
  int dimensions = 0;
  require(PMPI_Cartdim_get(comm, &dimensions), "MPI_Cartdim_get");
  return dimensions;
}

std::vector<int> cartesian_neighbors(MPI_Comm comm) {
  std::vector<int> neighbors;
  for (int dimension = 0; dimension < dimensions_of(comm); ++dimension) {
    int below = MPI_PROC_NULL;
    int above = MPI_PROC_NULL;
    require(PMPI_Cart_shift(comm, dimension, 1, &below, &above), "MPI_Cart_shift");
    neighbors.insert(neighbors.end(), {below, above});
  }
  return neighbors;
}

Degrees degrees_of(MPI_Comm comm) {
  Degrees degrees;
  switch (kind_of(comm)) {
    case MPI_CART:
      degrees.in = degrees.out = 2 * dimensions_of(comm);
      return degrees;
    case MPI_DIST_GRAPH:
      require(PMPI_Dist_graph_neighbors_count(comm, &degrees.in, &degrees.out, &degrees.weighted),
              "MPI_Dist_graph_neighbors_count");
      return degrees;
    default:  // or no topology, which is an error
      degrees.in = degrees.out = static_cast<int>(graph_neighbors(comm).size());
      return degrees;
  }
}

void check_room(const char* name, int room, int degree, const int* array) {
  if (room < degree)
    throw Failure(MPI_ERR_ARG, fmt::format("max{}degree is {}; this rank has {} neighbours there", name, room, degree));
  if (degree > 0 && array == nullptr) throw Failure(MPI_ERR_ARG, "a null pointer for an array of neighbours");
}

/// MPI leaves open which pointer MPI_UNWEIGHTED is, and takes no null.
class Weights {
 public:
  Weights(int* user, int degree) : own_(static_cast<std::size_t>(degree) + 1), user_(user) {
    if (user == nullptr || user == MPI_UNWEIGHTED) user_ = nullptr;
  }
  [[nodiscard]] int* data() noexcept { return user_ != nullptr ? user_ : own_.data(); }

 private:
  std::vector<int> own_;
  int* user_;
};

}  // namespace

}  // namespace fab::nbc

using namespace fab::nbc;

int NBC_Comm_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  return guarded("NBC_Comm_neighbors_count", [&] {
    if (indegree == nullptr || outdegree == nullptr || weighted == nullptr)
      throw Failure(MPI_ERR_ARG, "a null pointer among indegree, outdegree and weighted");
    const Degrees degrees = degrees_of(comm);
    *indegree = degrees.in;
    *outdegree = degrees.out;
    *weighted = degrees.weighted;
    return NBC_OK;
  });
}

int NBC_Comm_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree,
                       int destinations[], int destweights[]) {
  return guarded("NBC_Comm_neighbors", [&] {
    const Degrees degrees = degrees_of(comm);
    check_room("in", maxindegree, degrees.in, sources);
    check_room("out", maxoutdegree, degrees.out, destinations);
    const int kind = kind_of(comm);
    if (kind == MPI_DIST_GRAPH) {
      Weights in(sourceweights, degrees.in);
      Weights out(destweights, degrees.out);
      require(PMPI_Dist_graph_neighbors(comm, degrees.in, sources, in.data(), degrees.out, destinations, out.data()),
              "MPI_Dist_graph_neighbors");
      return NBC_OK;
    }
    const std::vector<int> neighbors = kind == MPI_CART ? cartesian_neighbors(comm) : graph_neighbors(comm);
    std::copy(neighbors.begin(), neighbors.end(), sources);
    std::copy(neighbors.begin(), neighbors.end(), destinations);
    return NBC_OK;
  });
}
