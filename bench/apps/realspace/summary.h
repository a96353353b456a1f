// The results of a run: printed, and written as JSON.
#ifndef BENCH_APPS_REALSPACE_SUMMARY_H
#define BENCH_APPS_REALSPACE_SUMMARY_H

#include <string>
#include <vector>

namespace realspace {

// Runs of one problem agree to this, with all numbers of ranks.
inline constexpr double kEnergyTolerance = 1e-10;

double relative_difference(double value, double reference);

// Times are means over the ranks unless something else is said.
struct Summary {
  std::string bench = "realspace";
  std::string molecule;
  double spacing_bohr = 0;
  double radius_bohr = 0;
  double softening_bohr = 0;
  int grid_points = 0;
  bool serial = false;
  int ranks = 1;
  std::string transport;  // empty in a serial run
  int states = 1;
  int block_width = 1;                   // vectors that are exchanged together
  int ghost_points = 0;                  // of all ranks
  double energy_hartree = 0;             // the sum of those of the states
  std::vector<double> energies_hartree;  // of the states
  double residual_hartree = 0;           // the largest
  bool converged = false;
  int iterations = 0;
  double setup_s = 0;             // of communication: the communicator and the first exchanges; of the slowest rank
  double steps_s = 0;             // of the iterations, after that
  int exchanges = 0;              // in the iterations
  double exchange_bytes = 0;      // that a rank sends in one, the mean
  double exchange_s = 0;          // of all, in their starting calls and in MPI_Wait
  double exchange_median_us = 0;  // of one
  double sum_s = 0;               // in sums over the ranks
  double picture_bohr_per_px = 0;
  double norm_error = 0;  // of a propagation in time
};

void print_summary(const Summary& summary);

// A list with one row, as benchmarks write.
void write_summary(const Summary& summary, const std::string& path);

}  // namespace realspace

#endif
