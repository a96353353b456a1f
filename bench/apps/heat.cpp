// Heat in a periodic box, by a stencil of seven points on a 3-D grid of ranks: fab::HaloExchange against messages of
// MPI with a datatype for each face (its neighbour collectives confuse the two faces towards a neighbour that is on
// both sides, as in a periodic grid of two ranks). Both exchange while the cells that need no halo are computed. The
// start is a product of sines, of which each step takes a known share, so every cell is checked.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "bindings/tools/command_line.h"
#include "bindings/tools/output.h"
#include "fab/fab.h"
#include "mpi_call.h"
#include "turns.h"

namespace {

using apps::check_mpi;

constexpr double kShare = 0.1;  // of a neighbour's difference that flows in a step
constexpr std::size_t kDimensions = 3;
using Place = std::array<std::size_t, kDimensions>;

// This rank's block of a periodic grid of cells, with a halo of one cell around it.
struct Block {
  std::size_t n = 0;  // own cells along each side
  Place first{};      // its first cell in the whole grid
  Place whole{};      // cells of the whole grid

  std::size_t row() const { return n + 2; }
  std::size_t plane() const { return row() * row(); }
  std::size_t cells() const { return plane() * row(); }
  std::size_t index(std::size_t x, std::size_t y, std::size_t z) const { return x * plane() + y * row() + z; }

  template <class Visit>
  void for_cells(const Place& low, const Place& high, Visit visit) const {
    for (std::size_t x = low[0]; x <= high[0]; ++x) {
      for (std::size_t y = low[1]; y <= high[1]; ++y) {
        for (std::size_t z = low[2]; z <= high[2]; ++z) visit(x, y, z);
      }
    }
  }

  void relax(const double* now, double* next, const Place& low, const Place& high) const {
    for_cells(low, high, [&](std::size_t x, std::size_t y, std::size_t z) {
      const std::size_t i = index(x, y, z);
      const double around =
          now[i - plane()] + now[i + plane()] + now[i - row()] + now[i + row()] + now[i - 1] + now[i + 1];
      next[i] = now[i] + kShare * (around - 6 * now[i]);
    });
  }
  void relax_inside(const double* now, double* next) const { relax(now, next, {2, 2, 2}, {n - 1, n - 1, n - 1}); }
  // The cells at the faces, each once.
  void relax_faces(const double* now, double* next) const {
    for (const std::size_t x : {std::size_t{1}, n}) relax(now, next, {x, 1, 1}, {x, n, n});
    for (const std::size_t y : {std::size_t{1}, n}) relax(now, next, {2, y, 1}, {n - 1, y, n});
    for (const std::size_t z : {std::size_t{1}, n}) relax(now, next, {2, 2, z}, {n - 1, n - 1, z});
  }

  // One wave along each side of the whole grid.
  double start(std::size_t x, std::size_t y, std::size_t z) const {
    const auto wave = [&](std::size_t dimension, std::size_t own) {
      return std::sin(2 * std::numbers::pi * static_cast<double>(first[dimension] + own - 1) /
                      static_cast<double>(whole[dimension]));
    };
    return wave(0, x) * wave(1, y) * wave(2, z);
  }
  // What a step leaves of it.
  double kept() const {
    double kept = 1;
    for (std::size_t cells : whole) {
      kept += 2 * kShare * (std::cos(2 * std::numbers::pi / static_cast<double>(cells)) - 1);
    }
    return kept;
  }

  void fill(double* field) const {
    for_cells({1, 1, 1}, {n, n, n},
              [&](std::size_t x, std::size_t y, std::size_t z) { field[index(x, y, z)] = start(x, y, z); });
  }
  double largest_error(const double* field, int steps) const {
    const double scale = std::pow(kept(), steps);
    double error = 0;
    for_cells({1, 1, 1}, {n, n, n}, [&](std::size_t x, std::size_t y, std::size_t z) {
      const double difference = std::abs(field[index(x, y, z)] - scale * start(x, y, z));
      error = std::isfinite(difference) ? std::max(error, difference) : HUGE_VAL;
    });
    return error;
  }
};

double by_fab(const Block& block, fab::HaloExchange& halo, int steps) {
  block.fill(halo.field<double>().data());
  for (int step = 0; step < steps; ++step) {
    const double* now = halo.field<double>().data();
    double* next = halo.other_field<double>().data();
    halo.start();
    block.relax_inside(now, next);
    halo.finish();
    block.relax_faces(now, next);
    halo.flip();
  }
  return block.largest_error(halo.field<double>().data(), steps);
}

// The messages of a block's faces, persistent, for one field.
class MpiFaces {
 public:
  MpiFaces(const Block& block, MPI_Comm grid, double* field) {
    for (std::size_t dimension = 0; dimension < kDimensions; ++dimension) {
      std::array<int, 2> neighbors{};  // on the lower and on the upper side
      check_mpi(MPI_Cart_shift(grid, static_cast<int>(dimension), 1, &neighbors[0], &neighbors[1]), "MPI_Cart_shift");
      for (const std::size_t side : {0, 1}) {
        const auto tag = static_cast<int>(2 * dimension + side);  // the side towards which the face travels
        add_face(block, dimension, side == 1 ? block.n : 1);
        check_mpi(MPI_Send_init(field, 1, types_.back(), neighbors[side], tag, grid, add_request()), "MPI_Send_init");
        add_face(block, dimension, side == 1 ? 0 : block.n + 1);
        check_mpi(MPI_Recv_init(field, 1, types_.back(), neighbors[1 - side], tag, grid, add_request()),
                  "MPI_Recv_init");
      }
    }
  }
  void free() {
    for (MPI_Request& request : requests_) check_mpi(MPI_Request_free(&request), "MPI_Request_free");
    for (MPI_Datatype& type : types_) check_mpi(MPI_Type_free(&type), "MPI_Type_free");
  }

  void start() { check_mpi(MPI_Startall(count(), requests_.data()), "MPI_Startall"); }
  void wait() { check_mpi(MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall"); }

 private:
  int count() const { return static_cast<int>(requests_.size()); }
  MPI_Request* add_request() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  void add_face(const Block& block, std::size_t dimension, std::size_t at) {
    const auto row = static_cast<int>(block.row());
    const auto n = static_cast<int>(block.n);
    const std::array<int, kDimensions> sizes = {row, row, row};
    std::array<int, kDimensions> part = {n, n, n};
    std::array<int, kDimensions> begin = {1, 1, 1};
    part[dimension] = 1;
    begin[dimension] = static_cast<int>(at);
    check_mpi(MPI_Type_create_subarray(kDimensions, sizes.data(), part.data(), begin.data(), MPI_ORDER_C, MPI_DOUBLE,
                                       &types_.emplace_back(MPI_DATATYPE_NULL)),
              "MPI_Type_create_subarray");
    check_mpi(MPI_Type_commit(&types_.back()), "MPI_Type_commit");
  }

  std::vector<MPI_Datatype> types_;
  std::vector<MPI_Request> requests_;
};

struct MpiField {
  MpiField(const Block& block, MPI_Comm grid) : cells(block.cells()), faces(block, grid, cells.data()) {}

  std::vector<double> cells;
  MpiFaces faces;
};

double by_mpi(const Block& block, std::array<MpiField, 2>& fields, int steps) {
  std::size_t current = 0;
  block.fill(fields[0].cells.data());
  for (int step = 0; step < steps; ++step, current = 1 - current) {
    const double* now = fields[current].cells.data();
    double* next = fields[1 - current].cells.data();
    fields[current].faces.start();
    block.relax_inside(now, next);
    fields[current].faces.wait();
    block.relax_faces(now, next);
  }
  return block.largest_error(fields[current].cells.data(), steps);
}

int run(std::size_t n, int steps, int turns) {
  int ranks = 0;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  std::array<int, kDimensions> sides{};
  check_mpi(MPI_Dims_create(ranks, kDimensions, sides.data()), "MPI_Dims_create");
  const std::array<int, kDimensions> periodic = {1, 1, 1};
  MPI_Comm grid = MPI_COMM_NULL;
  check_mpi(MPI_Cart_create(MPI_COMM_WORLD, kDimensions, sides.data(), periodic.data(), 0, &grid), "MPI_Cart_create");
  int rank = 0;
  std::array<int, kDimensions> coordinates{};
  check_mpi(MPI_Comm_rank(grid, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Cart_coords(grid, rank, kDimensions, coordinates.data()), "MPI_Cart_coords");
  Block block{n, {}, {}};
  for (std::size_t i = 0; i < kDimensions; ++i) {
    block.first[i] = static_cast<std::size_t>(coordinates[i]) * n;
    block.whole[i] = static_cast<std::size_t>(sides[i]) * n;
  }

  const auto context = fab::Context::open();  // its ranks, and places in the grid, are those of MPI_COMM_WORLD
  fab::HaloExchange halo(context.world(), {.grid = {sides.begin(), sides.end()},
                                           .periodic = {true, true, true},
                                           .block = {.interior = {n, n, n}, .width = {1, 1, 1}},
                                           .buffers = 2});
  std::array<MpiField, 2> fields = {MpiField(block, grid), MpiField(block, grid)};
  const int status = apps::compare({.program = "heat",
                                    .by_fab = [&] { return by_fab(block, halo, steps); },
                                    .by_mpi = [&] { return by_mpi(block, fields, steps); },
                                    .tolerance = 1e-14 * steps,
                                    .turns = turns});
  for (MpiField& field : fields) field.faces.free();
  check_mpi(MPI_Comm_free(&grid), "MPI_Comm_free");
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  std::size_t cells = 96;
  int steps = 50;
  int turns = 5;
  CLI::App app("Heat in a periodic box: a 3-D stencil with fab's halo exchange and with MPI's persistent messages.");
  app.add_option("--cells", cells, "Own cells along each side of a rank's block")
      ->check(CLI::Range(3, 1000))
      ->capture_default_str();
  app.add_option("--steps", steps, "Time steps in a turn")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--turns", turns, "Of each way")->check(CLI::Range(1, 10000))->capture_default_str();
  return apps::with_mpi("heat", app, argc, argv, [&] { return run(cells, steps, turns); });
}
