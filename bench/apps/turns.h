// Times a piece of work that has two ways, in turns, and checks what each computes.
#ifndef BENCH_APPS_TURNS_H
#define BENCH_APPS_TURNS_H

#include <CLI/CLI.hpp>
#include <array>
#include <functional>

namespace apps {

struct TwoWays {
  const char* program;
  std::function<double()> work;        // returns the error of its result on this rank
  std::function<double()> other_work;  // likewise
  std::array<const char*, 2> names = {"fab", "MPI"};
  double tolerance = 0;  // of the errors
  int turns = 5;
};

// Collective over MPI_COMM_WORLD. Prints on rank 0 the medians of both ways, the other's time over the first one's and
// the largest error. Returns the exit status, the same on every rank: failure if an error is above the tolerance.
int compare(const TwoWays& ways);

// The main() of a program that compares two ways: parses the command line and does `work`, which returns the exit
// status, between MPI_Init and MPI_Finalize. An exception of one rank ends them all.
int with_mpi(const char* program, CLI::App& app, int argc, char** argv, const std::function<int()>& work);

}  // namespace apps

#endif
