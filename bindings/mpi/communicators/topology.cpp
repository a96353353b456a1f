#include "bindings/mpi/communicators/topology.h"

#include <fmt/core.h>

#include <algorithm>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/communicators/intra_communicator.h"

namespace fab::mpi {

namespace {

int kind_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  require(PMPI_Topo_test(comm, &kind), "MPI_Topo_test");
  return kind;
}

[[noreturn]] void fail_without_topology() {
  throw Failure(MPI_ERR_TOPOLOGY,
                "comm has no topology; make one with MPI_Cart_create, MPI_Graph_create, "
                "MPI_Dist_graph_create or MPI_Dist_graph_create_adjacent");
}

/// MPI takes lengths as int and wants an address even for nothing.
struct IntArray {
  explicit IntArray(int length) : values(static_cast<std::size_t>(std::max(length, 1))), used(length) {}
  [[nodiscard]] int* data() noexcept { return values.data(); }
  [[nodiscard]] std::vector<int> take() {
    values.resize(static_cast<std::size_t>(used));
    return std::move(values);
  }

  std::vector<int> values;
  int used;
};

Cartesian read_cartesian(MPI_Comm comm) {
  int dimensions = 0;
  require(PMPI_Cartdim_get(comm, &dimensions), "MPI_Cartdim_get");
  IntArray dims(dimensions);
  IntArray periods(dimensions);
  IntArray coordinates(dimensions);
  require(PMPI_Cart_get(comm, dimensions, dims.data(), periods.data(), coordinates.data()), "MPI_Cart_get");
  const std::vector<int> flags = periods.take();
  std::vector<bool> periodic(flags.size());
  std::transform(flags.begin(), flags.end(), periodic.begin(), [](int flag) { return flag != 0; });
  return {dims.take(), std::move(periodic)};
}

std::vector<int> graph_neighbors(MPI_Comm comm, int rank) {
  int degree = 0;
  require(PMPI_Graph_neighbors_count(comm, rank, &degree), "MPI_Graph_neighbors_count");
  IntArray neighbors(degree);
  require(PMPI_Graph_neighbors(comm, rank, degree, neighbors.data()), "MPI_Graph_neighbors");
  return neighbors.take();
}

// MPI allows one-sided edges, an exchange does not. Every rank looks at the whole graph, which MPI keeps anyway, so
// that all refuse a bad one together; fab keeps the own edges only.
DistributedGraph read_graph(MPI_Comm comm) {
  int nodes = 0;
  int edge_count = 0;
  require(PMPI_Graphdims_get(comm, &nodes, &edge_count), "MPI_Graphdims_get");
  IntArray index(nodes);
  IntArray edges(edge_count);
  require(PMPI_Graph_get(comm, nodes, edge_count, index.data(), edges.data()), "MPI_Graph_get");
  const Graph whole(index.take(), edges.take());
  int rank = 0;
  require(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const auto own = whole.neighbors(rank);
  const std::vector<int> neighbors(own.begin(), own.end());
  return {neighbors, neighbors};
}

DistributedGraph read_distributed_graph(MPI_Comm comm) {
  int in = 0;
  int out = 0;
  int weighted = 0;
  require(PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted), "MPI_Dist_graph_neighbors_count");
  IntArray sources(in);
  IntArray destinations(out);
  IntArray source_weights(in);
  IntArray destination_weights(out);
  require(PMPI_Dist_graph_neighbors(comm, in, sources.data(), source_weights.data(), out, destinations.data(),
                                    destination_weights.data()),
          "MPI_Dist_graph_neighbors");
  return {sources.take(), destinations.take()};
}

void check_rank(MPI_Comm comm, int rank) {
  int size = 0;
  require(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
  if (rank < 0 || rank >= size)
    throw Failure(MPI_ERR_RANK, fmt::format("rank is {}; valid are the ranks from 0 below {}", rank, size));
}

void check_is_own(MPI_Comm comm, int rank) {
  int own = 0;
  require(PMPI_Comm_rank(comm, &own), "MPI_Comm_rank");
  if (rank != own)
    throw Failure(MPI_ERR_RANK, fmt::format("rank is {}; on a distributed graph only the calling rank, {}, knows its "
                                            "neighbors",
                                            rank, own));
}

std::vector<int> peers_of(const std::vector<Edge>& edges) {
  std::vector<int> peers(edges.size());
  std::transform(edges.begin(), edges.end(), peers.begin(), [](const Edge& edge) { return edge.peer; });
  return peers;
}

}  // namespace

Topology read_topology(MPI_Comm comm) {
  switch (kind_of(comm)) {
    case MPI_CART:
      return read_cartesian(comm);
    case MPI_GRAPH:
      return read_graph(comm);
    case MPI_DIST_GRAPH:
      return read_distributed_graph(comm);
    default:
      fail_without_topology();
  }
}

std::vector<int> neighbors_of(MPI_Comm comm, int rank) {
  check_communicator(comm);
  const int kind = kind_of(comm);
  if (kind != MPI_CART && kind != MPI_GRAPH && kind != MPI_DIST_GRAPH) fail_without_topology();
  check_rank(comm, rank);
  if (kind == MPI_CART) return peers_of(read_cartesian(comm).neighborhood(rank).destinations);
  if (kind == MPI_GRAPH) return graph_neighbors(comm, rank);
  check_is_own(comm, rank);
  return peers_of(read_distributed_graph(comm).neighborhood().destinations);
}

}  // namespace fab::mpi
