// Heat in a periodic box, by a stencil of seven points on a 3-D grid of ranks: fab::HaloExchange against messages of
// MPI with a datatype for each face (its neighbour collectives confuse the two faces towards a neighbour that is on
// both sides, as in a periodic grid of two ranks). Both exchange while the cells that need no halo are computed. The
// start is a product of sines, of which each step takes a known share, so every cell is checked.
//
// With --threads the threads of a rank share its block (heat_threads.h).
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <vector>

#include "bindings/tools/command_line.h"
#include "bindings/tools/output.h"
#include "fab/fab.h"
#include "heat_block.h"
#include "heat_threads.h"
#include "mpi_call.h"
#include "turns.h"

namespace {

using apps::check_mpi;
using apps::heat::Block;
using apps::heat::kDimensions;

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

int run(std::size_t n, int steps, int turns, int threads, bool at_once) {
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
  const fab::HaloOptions options{.grid = {sides.begin(), sides.end()},
                                 .periodic = {true, true, true},
                                 .block = {.interior = {n, n, n}, .width = {1, 1, 1}},
                                 .buffers = 2};
  if (threads > 0) {
    check_mpi(MPI_Comm_free(&grid), "MPI_Comm_free");
    return apps::heat::compare_threads(block, context.world(), options, {threads, steps, turns, at_once});
  }
  fab::HaloExchange halo(context.world(), options);
  std::array<MpiField, 2> fields = {MpiField(block, grid), MpiField(block, grid)};
  const int status = apps::compare({.program = "heat",
                                    .work = [&] { return by_fab(block, halo, steps); },
                                    .other_work = [&] { return by_mpi(block, fields, steps); },
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
  int threads = 0;
  bool at_once = false;
  CLI::App app("Heat in a periodic box: a 3-D stencil with fab's halo exchange and with MPI's persistent messages.");
  app.add_option("--cells", cells, "Own cells along each side of a rank's block")
      ->check(CLI::Range(3, 1000))
      ->capture_default_str();
  app.add_option("--steps", steps, "Time steps in a turn")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--turns", turns, "Of each way")->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--threads", threads,
                 "Threads of a rank, which share its block: sends their parts of the faces one by one, and as wholes")
      ->check(CLI::Range(1, 256));
  app.add_flag("--at-once", at_once, "A thread computes all its cells before those at the faces travel")
      ->needs("--threads");
  return apps::with_mpi("heat", app, argc, argv, [&] { return run(cells, steps, turns, threads, at_once); });
}
