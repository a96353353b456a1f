#include "support/neighbors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "apps/mpi_call.h"

namespace bench {
namespace {

using apps::check_mpi;

std::vector<int> chosen_dims(int ranks, std::size_t dimensions) {
  std::vector<int> dims(dimensions, 0);
  check_mpi(MPI_Dims_create(ranks, static_cast<int>(dimensions), dims.data()), "MPI_Dims_create");
  return dims;
}

std::vector<int> dims_of(const PatternOptions& options, int ranks) {
  const bool faces = options.pattern == Pattern::faces;
  if (options.pattern == Pattern::ring) return {ranks};
  if (!faces && options.pattern != Pattern::grid) return {};
  if (options.grid.empty()) return chosen_dims(ranks, faces ? static_cast<std::size_t>(options.dimensions) : 2);
  const std::string given = fmt::format("--grid {}", fmt::join(options.grid, "x"));
  const int places = std::accumulate(options.grid.begin(), options.grid.end(), 1, std::multiplies<>());
  if (places != ranks)
    throw std::runtime_error(
        fmt::format("{} has {} places, and the job has {} ranks; valid are extents whose product "
                    "is the number of ranks",
                    given, places, ranks));
  if (faces && (options.grid.size() < 2 || options.grid.size() > 3))
    throw std::runtime_error(given + ": blocks with faces have 2 or 3 dimensions");
  return options.grid;
}

MPI_Comm make_grid(const std::vector<int>& dims, bool open) {
  const std::vector<int> periodic(dims.size(), open ? 0 : 1);
  MPI_Comm comm = MPI_COMM_NULL;
  check_mpi(MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(dims.size()), dims.data(), periodic.data(), /*reorder=*/0,
                            &comm),
            "MPI_Cart_create");
  return comm;
}

void check_options(const PatternOptions& options, int ranks) {
  const bool has_grid = options.pattern == Pattern::grid || options.pattern == Pattern::faces;
  if (options.open && !has_grid)
    throw std::runtime_error(
        fmt::format("--open with --pattern {}: valid with grid and faces", name_of(options.pattern)));
  if (!options.grid.empty() && !has_grid)
    throw std::runtime_error(
        fmt::format("--grid with --pattern {}: valid with grid and faces", name_of(options.pattern)));
  if (options.pattern != Pattern::ring && options.pattern != Pattern::faces && ranks < 2)
    throw std::runtime_error(fmt::format("--pattern {} has no neighbours for one rank; 2 ranks or more are valid",
                                         name_of(options.pattern)));
  if (options.pattern == Pattern::pair && ranks % 2 != 0)
    throw std::runtime_error(
        fmt::format("--pattern pair: {} ranks cannot be paired; even numbers of ranks are valid", ranks));
}

}  // namespace

const char* name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::ring:
      return "ring";
    case Pattern::pair:
      return "pair";
    case Pattern::grid:
      return "grid";
    case Pattern::random:
      return "random";
    case Pattern::faces:
      return "faces";
  }
  return "";
}

Neighbors::Neighbors(const PatternOptions& options) : options_(options) {
  int ranks = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  check_options(options, ranks);
  dims_ = dims_of(options, ranks);
  if (is_cartesian())
    comm_ = make_grid(dims_, options.open);
  else
    make_graph(ranks);
}

void Neighbors::make_graph(int ranks) {
  const auto edges_of = [&](int rank) {
    if (options_.pattern == Pattern::pair) return pair_edges(rank);
    if (options_.pattern == Pattern::grid) return grid_edges(rank, dims_, options_.open);
    return random_edges(rank, ranks, options_.degree, options_.seed);
  };
  edges_ = edges_of(rank_);
  for (std::size_t block = 0; block < edges_.sources.size(); ++block)
    arriving_.push_back(sent_block(edges_of(edges_.sources[block]), edges_, rank_, static_cast<int>(block)));
  check_mpi(
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(edges_.sources.size()), edges_.sources.data(),
                                     MPI_UNWEIGHTED, static_cast<int>(edges_.destinations.size()),
                                     edges_.destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm_),
      "MPI_Dist_graph_create_adjacent");
}

// An exception on its way ends the job, and an exchange may be left on the communicator.
Neighbors::~Neighbors() {
  if (std::uncaught_exceptions() > 0) return;
  if (MPI_Comm_free(&comm_) != MPI_SUCCESS) fmt::print(stderr, "MPI_Comm_free failed\n");
}

int Neighbors::destination(int block, Order order) const {
  if (!is_cartesian()) return edges_.destinations[static_cast<std::size_t>(block)];
  int negative = MPI_PROC_NULL;
  int positive = MPI_PROC_NULL;
  check_mpi(MPI_Cart_shift(comm_, block / 2, 1, &negative, &positive), "MPI_Cart_shift");
  return (block % 2 == 0) == (order == Order::fab) ? positive : negative;
}

int Neighbors::source(int block, Order order) const {
  return is_cartesian() ? destination(block, order) : edges_.sources[static_cast<std::size_t>(block)];
}

bool Neighbors::has_single_peer() const {
  if (pattern() == Pattern::pair) return true;
  return pattern() == Pattern::ring && destination(0, Order::fab) == destination(1, Order::fab) &&
         destination(0, Order::fab) != rank_;
}

}  // namespace bench
