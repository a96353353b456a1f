// Cannon's matrix product C = A B on a square of processes, the blocks rotated by MPI_Cart_shift_xchg in place.
//
// The program is that of A. Grama et al., "Introduction to Parallel Computing" (2003), program 6.2, with one shift call
// for each of its pairs of MPI_Cart_shift and MPI_Sendrecv_replace. Process (i, j) holds the blocks (i, j); dimension 0
// of the process grid counts block rows, so A moves along dimension 1 and is aligned by its row number, B the other
// way.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "bindings/tools/output.h"
#include "fab/mpi.h"
#include "mpi_call.h"
#include "turns.h"

namespace {

using apps::check_mpi;

constexpr int kRowDimension = 0;  // moving along it changes the block row
constexpr int kColumnDimension = 1;

// The side of a square of that many processes; 0 when they make none.
int square_side(int processes) {
  const auto side = static_cast<int>(std::lround(std::sqrt(processes)));
  return side * side == processes ? side : 0;
}

// A periodic square of processes over MPI_COMM_WORLD, which must have a square number of them.
class ProcessSquare {
 public:
  ProcessSquare() {
    int processes = 0;
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &processes), "MPI_Comm_size");
    side_ = square_side(processes);
    const std::array<int, 2> sides = {side_, side_};
    const std::array<int, 2> periods = {1, 1};
    check_mpi(MPI_Cart_create(MPI_COMM_WORLD, 2, sides.data(), periods.data(), 1, &comm_), "MPI_Cart_create");
    check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Cart_coords(comm_, rank_, 2, coordinates_.data()), "MPI_Cart_coords");
  }

  MPI_Comm comm() const { return comm_; }
  int side() const { return side_; }
  int rank() const { return rank_; }
  int row() const { return coordinates_[0]; }
  int column() const { return coordinates_[1]; }
  void free() { check_mpi(MPI_Comm_free(&comm_), "MPI_Comm_free"); }

  void shift(std::vector<double>& block, int dimension, int displacement) const {
    const auto count = static_cast<int>(block.size());
    check_mpi(MPI_Cart_shift_xchg(MPI_IN_PLACE, count, MPI_DOUBLE, block.data(), count, MPI_DOUBLE, dimension,
                                  displacement, comm_),
              "MPI_Cart_shift_xchg");
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int side_ = 0;
  int rank_ = 0;
  std::array<int, 2> coordinates_{};
};

// c += a b for square row-major matrices.
void multiply_add(std::size_t n, const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& c) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  }
}

void cannon(const ProcessSquare& square, std::size_t n, std::vector<double>& a, std::vector<double>& b,
            std::vector<double>& c) {
  square.shift(a, kColumnDimension, -square.row());
  square.shift(b, kRowDimension, -square.column());
  for (int step = 0; step < square.side(); ++step) {
    multiply_add(n, a, b, c);
    square.shift(a, kColumnDimension, -1);
    square.shift(b, kRowDimension, -1);
  }
  square.shift(a, kColumnDimension, square.row());
  square.shift(b, kRowDimension, square.column());
}

// Entry (i, j) of a test matrix: scattered over [-1, 1), different for every seed.
double entry(int seed, std::size_t i, std::size_t j) {
  return std::sin(1.0 + 12.9898 * static_cast<double>(i) + 78.233 * static_cast<double>(j) + 3.7 * seed);
}

// The block of n x n entries whose first entry is (first_row, first_column).
std::vector<double> make_block(int seed, std::size_t n, std::size_t first_row, std::size_t first_column) {
  std::vector<double> block;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) block.push_back(entry(seed, first_row + i, first_column + j));
  }
  return block;
}

// The largest difference between the gathered blocks and the serial product, on rank 0; 0 elsewhere.
double largest_error(const ProcessSquare& square, std::size_t n, const std::vector<double>& block) {
  const auto side = static_cast<std::size_t>(square.side());
  const auto count = static_cast<int>(block.size());
  std::vector<double> blocks(square.rank() == 0 ? side * side * block.size() : 0);
  check_mpi(MPI_Gather(block.data(), count, MPI_DOUBLE, blocks.data(), count, MPI_DOUBLE, 0, square.comm()),
            "MPI_Gather");
  if (square.rank() != 0) return 0;

  const std::size_t whole = side * n;
  std::vector<double> expected(whole * whole, 0.0);
  multiply_add(whole, make_block(1, whole, 0, 0), make_block(2, whole, 0, 0), expected);
  double error = 0;
  for (std::size_t i = 0; i < whole; ++i) {
    for (std::size_t j = 0; j < whole; ++j) {
      const std::size_t owner = i / n * side + j / n;  // ranks of a Cartesian communicator count row by row
      const double difference = blocks[owner * n * n + i % n * n + j % n] - expected[i * whole + j];
      error = std::isfinite(difference) ? std::max(error, std::abs(difference)) : HUGE_VAL;
    }
  }
  return error;
}

// Returns the exit code, the same on every rank.
int run(int size) {
  ProcessSquare square;
  const auto n = static_cast<std::size_t>(size / square.side());
  const std::size_t first_row = static_cast<std::size_t>(square.row()) * n;
  const std::size_t first_column = static_cast<std::size_t>(square.column()) * n;
  std::vector<double> a = make_block(1, n, first_row, first_column);
  std::vector<double> b = make_block(2, n, first_row, first_column);
  std::vector<double> c(n * n, 0.0);

  check_mpi(MPI_Barrier(square.comm()), "MPI_Barrier");
  const double begin = MPI_Wtime();
  cannon(square, n, a, b, c);
  check_mpi(MPI_Barrier(square.comm()), "MPI_Barrier");
  const double seconds = MPI_Wtime() - begin;

  const double tolerance = 1e-12 * size;  // sums of `size` products of at most 1, in another order
  const double error = largest_error(square, n, c);
  const bool restored =
      a == make_block(1, n, first_row, first_column) && b == make_block(2, n, first_row, first_column);
  const int right_here = restored && error <= tolerance;
  int right = 0;
  check_mpi(MPI_Allreduce(&right_here, &right, 1, MPI_INT, MPI_MIN, square.comm()), "MPI_Allreduce");
  if (square.rank() == 0) {
    fmt::print("cannon: {0} x {0} on {1} x {1} processes: {2:.3f} s, largest error {3:.1e}: {4}\n", size, square.side(),
               seconds, error, right ? "right" : "WRONG");
  }
  square.free();
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  fab::tools::check_output_at_exit();
  int size = 720;
  CLI::App app("Cannon's matrix product on a square number of processes, checked against a serial product.");
  app.add_option("--size", size, "Rows of the matrices: a multiple of the square root of the number of processes")
      ->capture_default_str();
  return apps::with_mpi("cannon", app, argc, argv, [&] {
    int processes = 0;
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &processes), "MPI_Comm_size");
    const int side = square_side(processes);
    if (side == 0) {
      throw CLI::ValidationError(fmt::format("{} processes are not a square: take 1, 4, 9, 16, ...", processes));
    }
    if (size < 1 || size % side != 0) {
      throw CLI::ValidationError(fmt::format("--size {} must be a positive multiple of {}", size, side));
    }
    return run(size);
  });
}
