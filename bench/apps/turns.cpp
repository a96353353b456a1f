#include "turns.h"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <vector>

#include "bindings/tools/command_line.h"
#include "mpi_call.h"

namespace apps {
namespace {

struct Way {
  const std::function<double()>& work;
  std::vector<double> seconds;  // of the slowest rank
  double error = 0;             // the largest of all
};

double largest(double value) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return value;
}

void take_turn(Way& way) {
  check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  const double begin = MPI_Wtime();
  const double error = way.work();
  way.seconds.push_back(largest(MPI_Wtime() - begin));
  way.error = std::max(way.error, largest(std::isfinite(error) ? error : HUGE_VAL));
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

int compare(const TwoWays& ways) {
  Way first{ways.work, {}, 0};
  Way other{ways.other_work, {}, 0};
  for (int turn = 0; turn < ways.turns; ++turn) {
    take_turn(first);
    take_turn(other);
  }
  int rank = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  const double error = std::max(first.error, other.error);
  const bool right = error <= ways.tolerance;
  if (rank == 0) {
    const double seconds = median(first.seconds);
    const double other_seconds = median(other.seconds);
    const auto [name, other_name] = ways.names;
    fmt::print("{}: {} {:.4f} s, {} {:.4f} s, {}/{} {:.2f}, largest error {:.1e}: {}\n", ways.program, name, seconds,
               other_name, other_seconds, other_name, name, other_seconds / seconds, error, right ? "right" : "WRONG");
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int with_mpi(const char* program, CLI::App& app, int argc, char** argv, const std::function<int()>& work) {
  int exit_code = EXIT_FAILURE;
  int rank = 0;
  try {
    check_mpi(MPI_Init(nullptr, nullptr), "MPI_Init");
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    app.parse(argc, argv);
    exit_code = work();
  } catch (const CLI::ParseError& error) {
    exit_code = rank == 0 ? fab::tools::end_parsing(app, error) : error.get_exit_code();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: rank {}: {}\n", program, rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  return MPI_Finalize() == MPI_SUCCESS ? exit_code : EXIT_FAILURE;
}

}  // namespace apps
