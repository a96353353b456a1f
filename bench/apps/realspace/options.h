// The command line of realspace.
#ifndef BENCH_APPS_REALSPACE_OPTIONS_H
#define BENCH_APPS_REALSPACE_OPTIONS_H

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "realspace/halo.h"
#include "realspace/solver.h"

namespace realspace {

struct Options {
  std::string molecule_path;
  double spacing_bohr = 0.3;
  double radius_bohr = 6;
  double softening_bohr = 0.5;
  SolverLimits limits{2000, 1e-7};
  bool serial = false;
  std::vector<Transport> transports{Transport::fab};
  int batch_iterations = 5;
  bool quiet = false;
  std::string image_path;
  int image_width_px = 640;
  std::string json_path;
  std::optional<double> expected_energy_hartree;
  std::vector<std::string> report_paths;
};

// Throws InputError for values that no run can use; the message names option, value and what is valid.
void validate(const Options& options);

// Binds the options to a parser.
void add_options(CLI::App& app, Options& options);

}  // namespace realspace

#endif
