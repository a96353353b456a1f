// Conjugate gradients for a sparse matrix that is divided by rows among the ranks: the values of other ranks that a
// product reads come along a distributed graph. With fab by a persistent neighbor_xchgv and allreduce, with MPI by
// MPI_Ineighbor_alltoallv and MPI_Allreduce. The matrix is 1 plus the Laplacian of a graph, a ring of vertices with
// near and long edges; the right side is made from a known solution.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "bindings/tools/command_line.h"
#include "bindings/tools/output.h"
#include "fab/fab.h"
#include "mpi_call.h"
#include "turns.h"

namespace {

using apps::check_mpi;
using Vector = std::vector<double>;

constexpr double kResidual = 1e-12;  // relative, at which a solver stops
constexpr int kNearEdges = 8;        // of each vertex, to those that follow it

// The neighbours of every vertex, the same on all ranks.
std::vector<std::set<int>> make_graph(int vertices, int long_edges) {
  std::vector<std::set<int>> neighbors(static_cast<std::size_t>(vertices));
  const auto join = [&](int a, int b) {
    if (a == b) return;
    neighbors[static_cast<std::size_t>(a)].insert(b);
    neighbors[static_cast<std::size_t>(b)].insert(a);
  };
  std::minstd_rand random(1);
  std::uniform_int_distribution<int> any(0, vertices - 1);
  for (int v = 0; v < vertices; ++v) {
    for (int step = 1; step <= kNearEdges; ++step) join(v, (v + step) % vertices);
  }
  for (int i = 0; i < long_edges; ++i) {
    const int from = any(random);
    join(from, any(random));
  }
  return neighbors;
}

// One rank's rows of the matrix. A vector has the own values first, then those of others, peer after peer.
struct Rows {
  int first = 0;  // vertex
  std::size_t count = 0;
  std::size_t ghosts = 0;
  std::vector<std::vector<std::size_t>> beside;  // the places of each row's neighbours
  std::vector<std::size_t> inner;                // rows that read own values only
  std::vector<std::size_t> outer;
  std::vector<int> peers;  // ascending, like the vertices within each: both sides agree on the order
  std::vector<int> send_counts, send_displacements, receive_counts, receive_displacements;
  std::vector<std::size_t> sent;  // own places, peer after peer

  void multiply(const std::vector<std::size_t>& rows, const double* x, double* y) const {
    for (std::size_t row : rows) {
      double sum = (1 + static_cast<double>(beside[row].size())) * x[row];
      for (std::size_t place : beside[row]) sum -= x[place];
      y[row] = sum;
    }
  }
};

Rows make_rows(const std::vector<std::set<int>>& graph, int rank, int ranks) {
  const auto vertices = static_cast<int>(graph.size());
  const auto first_of = [&](int owner) { return static_cast<int>(std::int64_t{vertices} * owner / ranks); };
  const auto owner_of = [&](int vertex) {
    return static_cast<int>(((std::int64_t{vertex} + 1) * ranks - 1) / vertices);
  };
  Rows rows;
  rows.first = first_of(rank);
  rows.count = static_cast<std::size_t>(first_of(rank + 1) - rows.first);
  std::map<int, std::set<int>> wanted;  // by peer: vertices
  std::map<int, std::set<int>> given;
  for (int v = rows.first; v < first_of(rank + 1); ++v) {
    for (int other : graph[static_cast<std::size_t>(v)]) {
      if (owner_of(other) == rank) continue;
      wanted[owner_of(other)].insert(other);
      given[owner_of(other)].insert(v);
    }
  }
  std::map<int, std::size_t> place;  // of vertices of others
  for (const auto& [peer, vertices_there] : wanted) {
    rows.peers.push_back(peer);
    rows.receive_displacements.push_back(static_cast<int>(rows.ghosts));
    rows.receive_counts.push_back(static_cast<int>(vertices_there.size()));
    for (int v : vertices_there) place[v] = rows.count + rows.ghosts++;
    rows.send_displacements.push_back(static_cast<int>(rows.sent.size()));
    rows.send_counts.push_back(static_cast<int>(given[peer].size()));
    for (int v : given[peer]) rows.sent.push_back(static_cast<std::size_t>(v - rows.first));
  }
  for (std::size_t row = 0; row < rows.count; ++row) {
    std::vector<std::size_t>& beside = rows.beside.emplace_back();
    bool is_inner = true;
    for (int other : graph[static_cast<std::size_t>(rows.first) + row]) {
      const bool own = owner_of(other) == rank;
      is_inner = is_inner && own;
      beside.push_back(own ? static_cast<std::size_t>(other - rows.first) : place.at(other));
    }
    (is_inner ? rows.inner : rows.outer).push_back(row);
  }
  return rows;
}

// How a library exchanges the values of others in the vector `p`, and sums over the ranks.
struct Communication {
  std::function<void()> start;  // sends `packed`
  std::function<void()> wait;
  std::function<double(double)> sum;
};

// What both libraries work on.
struct System {
  const Rows& rows;
  Vector packed;
  Vector p;  // the direction of search, with the values of others

  explicit System(const Rows& all) : rows(all), packed(all.sent.size()), p(all.count + all.ghosts) {}

  void multiply(const Communication& by, Vector& y) {
    for (std::size_t i = 0; i < packed.size(); ++i) packed[i] = p[rows.sent[i]];
    by.start();
    rows.multiply(rows.inner, p.data(), y.data());
    by.wait();
    rows.multiply(rows.outer, p.data(), y.data());
  }

  double dot(const Communication& by, const double* a, const double* b) const {
    double sum = 0;
    for (std::size_t i = 0; i < rows.count; ++i) sum += a[i] * b[i];
    return by.sum(sum);
  }
};

double known(const Rows& rows, std::size_t row) {
  return std::sin(static_cast<double>(rows.first) + static_cast<double>(row));
}

// Solves from zero; returns the largest error.
double solve(System& system, const Communication& by) {
  const std::size_t count = system.rows.count;
  Vector x(count), r(count), q(count);
  for (std::size_t i = 0; i < count; ++i) system.p[i] = known(system.rows, i);
  system.multiply(by, r);
  std::copy(r.begin(), r.end(), system.p.begin());
  const double first = system.dot(by, r.data(), r.data());
  double residual = first;
  while (residual > kResidual * kResidual * first) {
    system.multiply(by, q);
    const double step = residual / system.dot(by, system.p.data(), q.data());
    for (std::size_t i = 0; i < count; ++i) {
      x[i] += step * system.p[i];
      r[i] -= step * q[i];
    }
    const double last = residual;
    residual = system.dot(by, r.data(), r.data());
    for (std::size_t i = 0; i < count; ++i) system.p[i] = r[i] + residual / last * system.p[i];
  }
  double error = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double difference = std::abs(x[i] - known(system.rows, i));
    error = std::isfinite(difference) ? std::max(error, difference) : HUGE_VAL;
  }
  return error;
}

int run(int vertices, int long_edges, int turns) {
  int rank = 0;
  int ranks = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  if (vertices < 2 * kNearEdges * ranks) {
    throw std::runtime_error(
        fmt::format("--vertices {} must be at least {} on {} ranks", vertices, 2 * kNearEdges * ranks, ranks));
  }
  const Rows rows = make_rows(make_graph(vertices, long_edges), rank, ranks);
  const auto degree = static_cast<int>(rows.peers.size());
  System system(rows);
  double* ghosts = system.p.data() + rows.count;

  const auto context = fab::Context::open();  // its ranks are those of MPI_COMM_WORLD
  const auto graph = context.world().distributed_graph(rows.peers, rows.peers);
  const std::span<double> received(ghosts, rows.ghosts);
  fab::PersistentExchange exchange =
      fab::neighbor_xchgv.persistent(graph, system.packed, fab::Blocks(rows.send_counts, rows.send_displacements),
                                     received, fab::Blocks(rows.receive_counts, rows.receive_displacements));
  const Communication by_fab{[&] { exchange.start(); }, [&] { exchange.wait(); },
                             [&](double sum) {
                               fab::allreduce(context.world(), sum, fab::ReduceOp::sum);
                               return sum;
                             }};

  MPI_Comm comm = MPI_COMM_NULL;
  check_mpi(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, rows.peers.data(), MPI_UNWEIGHTED, degree,
                                           rows.peers.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
            "MPI_Dist_graph_create_adjacent");
  MPI_Request request = MPI_REQUEST_NULL;
  const Communication by_mpi{
      [&] {
        check_mpi(MPI_Ineighbor_alltoallv(system.packed.data(), rows.send_counts.data(), rows.send_displacements.data(),
                                          MPI_DOUBLE, ghosts, rows.receive_counts.data(),
                                          rows.receive_displacements.data(), MPI_DOUBLE, comm, &request),
                  "MPI_Ineighbor_alltoallv");
      },
      [&] { check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait"); },
      [&](double sum) {
        check_mpi(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
        return sum;
      }};
  const int status = apps::compare({.program = "graph_cg",
                                    .work = [&] { return solve(system, by_fab); },
                                    .other_work = [&] { return solve(system, by_mpi); },
                                    .tolerance = 1e-9,
                                    .turns = turns});
  check_mpi(MPI_Comm_free(&comm), "MPI_Comm_free");
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  int vertices = 40000;
  int long_edges = 2000;
  int turns = 5;
  CLI::App app("Conjugate gradients on a distributed graph, with fab's and with MPI's neighbour exchange and sums.");
  app.add_option("--vertices", vertices, "Rows of the matrix")->check(CLI::Range(1, 100000000))->capture_default_str();
  app.add_option("--long-edges", long_edges, "Beside those to the next 8 vertices")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str();
  app.add_option("--turns", turns, "Of each way")->check(CLI::Range(1, 10000))->capture_default_str();
  return apps::with_mpi("graph_cg", app, argc, argv, [&] { return run(vertices, long_edges, turns); });
}
