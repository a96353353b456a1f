// The results of a run: printed, written as JSON, compared with other runs.
#ifndef BENCH_APPS_REALSPACE_SUMMARY_H
#define BENCH_APPS_REALSPACE_SUMMARY_H

#include <string>
#include <vector>

namespace realspace {

// Runs of one problem agree to this, with all numbers of ranks.
inline constexpr double kEnergyTolerance = 1e-10;

double relative_difference(double value, double reference);

// Times of the exchanges of one transport, in its starting call and MPI_Wait together, as the mean over the ranks.
struct ExchangeTimes {
  std::string transport;
  int exchanges = 0;
  double median_us = 0;  // per exchange
  double total_s = 0;
  double first_us = 0;  // the first exchange, before the iterations; counted nowhere else
};

struct Summary {
  std::string molecule;
  double spacing_bohr = 0;
  double radius_bohr = 0;
  double softening_bohr = 0;
  int grid_points = 0;
  bool serial = false;
  int ranks = 1;
  int ghost_points = 0;  // of all ranks
  double energy_hartree = 0;
  double residual_hartree = 0;
  bool converged = false;
  int iterations = 0;
  double iterations_per_s = 0;
  double solve_s = 0;
  std::vector<ExchangeTimes> exchange_times;
};

void print_summary(const Summary& summary);
void write_summary(const Summary& summary, const std::string& path);

// Prints a table of summary files, the serial run's first. Returns whether all energies equal the first one's.
bool print_report(const std::vector<std::string>& paths);

}  // namespace realspace

#endif
