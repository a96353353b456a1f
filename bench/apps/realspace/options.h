// The command line of realspace.
#ifndef BENCH_APPS_REALSPACE_OPTIONS_H
#define BENCH_APPS_REALSPACE_OPTIONS_H

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "realspace/distribution.h"
#include "realspace/transport.h"

namespace realspace {

struct Options {
  std::string molecule_path;
  double spacing_bohr = 0.3;
  double radius_bohr = 6;
  double softening_bohr = 0.5;
  SolverLimits limits{2000, 1e-7};
  bool serial = false;
  int states = 1;
  int filter_degree = 10;
  const Transport* transport = &transports().front();
  bool quiet = false;
  std::string image_path;
  int image_width_px = 640;
  std::string json_path;
  std::optional<double> expected_energy_hartree;
  std::optional<double> harmonic_hartree;  // omega of a harmonic potential, instead of the nuclei's
  std::string checkpoint_path;
  int checkpoint_interval = 100;  // iterations
  std::string restart_path;
  double kick_per_bohr = 0;  // 0: no propagation
  std::string kick_axis = "x";
  double time_step_au = 0.05;
  int time_steps = 400;
  std::string dipole_path;
  std::string spectrum_path;
};

// Throws InputError for values that no run can use; the message names option, value and what is valid.
void validate(const Options& options);

// Binds the options to a parser.
void add_options(CLI::App& app, Options& options);

}  // namespace realspace

#endif
