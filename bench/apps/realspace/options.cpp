#include "realspace/options.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>

#include "core/base/quoted.h"
#include "realspace/input_error.h"
#include "realspace/molecule.h"

namespace realspace {
namespace {

// A number with an optional unit.
double parse_length_bohr(const std::string& text) {
  const char* begin = text.c_str();
  char* unit = nullptr;
  const double number = std::strtod(begin, &unit);
  while (*unit == ' ') ++unit;
  const std::string_view name = unit;
  if (unit == begin || !(name.empty() || name == "bohr" || name == "angstrom")) {
    throw CLI::ValidationError(
        fmt::format("{} is not a length such as 0.5, 0.5bohr (the same) or 0.25angstrom", fab::in_quotes(text)));
  }
  return name == "angstrom" ? number * kBohrPerAngstrom : number;
}

void add_length(CLI::App& app, const std::string& name, double& length_bohr, const std::string& help) {
  const auto set = [&length_bohr](const std::string& text) { length_bohr = parse_length_bohr(text); };
  app.add_option_function<std::string>(name, set, help + ", in bohr or with a unit: 0.5bohr, 0.25angstrom")
      ->type_name("LENGTH")
      ->default_str(fmt::format("{}", length_bohr));
}

void require_length(const char* option, double length_bohr) {
  if (!std::isfinite(length_bohr) || length_bohr <= 0) {
    throw InputError(fmt::format("{} is {} bohr; it must be a length above 0", option, length_bohr));
  }
}

void require(bool valid, const char* option, double value, const char* expected) {
  if (!valid) throw InputError(fmt::format("{} is {}; it must be {}", option, value, expected));
}

CLI::Option* add_transport(CLI::App& app, Options& options) {
  std::map<std::string, const Transport*> known;
  std::string help = "Transport of the ghost values";
  for (const Transport& transport : transports()) {
    help += fmt::format("{}{}", known.empty() ? ": " : ", or ", transport.description);
    known.emplace(transport.name, &transport);
  }
  const auto choose = [&options, known](const std::string& name) { options.transport = known.at(name); };
  return app.add_option_function<std::string>("--transport", choose, help)
      ->check(CLI::IsMember(known))
      ->default_str(options.transport->name);
}

void add_propagation(CLI::App& app, Options& options) {
  app.add_option("--kick", options.kick_per_bohr,
                 "Give the states found this momentum, in 1/bohr, and propagate them in time; 0: do not")
      ->capture_default_str();
  app.add_option("--kick-axis", options.kick_axis, "Direction of the kick: x, y or z")
      ->check(CLI::IsMember({"x", "y", "z"}))
      ->capture_default_str();
  app.add_option("--time-step", options.time_step_au, "Of the propagation, in atomic units (24 as)")
      ->capture_default_str();
  app.add_option("--time-steps", options.time_steps, "Number of time steps")->capture_default_str();
  app.add_option("--dipole", options.dipole_path,
                 "Write time and position along the kick, in atomic units, to this file");
  app.add_option("--spectrum", options.spectrum_path,
                 "Write energy in hartree and dipole strength in 1/hartree to this file");
}

}  // namespace

void validate(const Options& options) {
  require_length("--spacing", options.spacing_bohr);
  require_length("--radius", options.radius_bohr);
  require_length("--softening", options.softening_bohr);
  require(options.limits.tolerance >= 0, "--tolerance", options.limits.tolerance, "0 or more");
  require(options.limits.max_iterations >= 1, "--max-iterations", options.limits.max_iterations, "at least 1");
  require(options.states >= 1 && options.states <= 256, "--states", options.states, "1 to 256");
  require(options.filter_degree >= 2 && options.filter_degree <= 100, "--degree", options.filter_degree, "2 to 100");
  require(!options.harmonic_hartree || *options.harmonic_hartree > 0, "--harmonic",
          options.harmonic_hartree.value_or(1), "above 0");
  require(options.checkpoint_interval >= 1, "--checkpoint-interval", options.checkpoint_interval, "at least 1");
  require(std::isfinite(options.kick_per_bohr), "--kick", options.kick_per_bohr, "a number");
  require(options.time_step_au > 0 && options.time_step_au <= 10, "--time-step", options.time_step_au,
          "above 0, and at most 10");
  require(options.time_steps >= 1, "--time-steps", options.time_steps, "at least 1");
  require(options.image_width_px >= 16 && options.image_width_px <= 8192, "--image-width", options.image_width_px,
          "16 to 8192");
  if (options.molecule_path.empty()) throw InputError("no molecule: name an .xyz file (see --help)");
}

void add_options(CLI::App& app, Options& options) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("molecule", options.molecule_path, ".xyz file, coordinates in angstrom");
  add_length(app, "--spacing", options.spacing_bohr, "Distance between grid points");
  add_length(app, "--radius", options.radius_bohr, "The grid holds all points closer than this to an atom");
  add_length(app, "--softening", options.softening_bohr, "s in the potential -Z / sqrt(r^2 + s^2) of an atom");
  app.add_option("--states", options.states,
                 "Lowest states to find: 1 by conjugate gradients, more together by a filtered subspace")
      ->capture_default_str();
  app.add_option("--degree", options.filter_degree, "Of the subspace's filter: applications of H in an iteration")
      ->capture_default_str();
  app.add_option("--max-iterations", options.limits.max_iterations, "Largest number of iterations")
      ->capture_default_str();
  app.add_option("--tolerance", options.limits.tolerance,
                 "Tolerance of the residual, in hartree; 0: always run --max-iterations")
      ->capture_default_str();
  auto* serial = app.add_flag("--serial", options.serial, "Compute the whole grid in this process, without MPI");
  add_transport(app, options)->excludes(serial);
  app.add_option(
      "--harmonic", options.harmonic_hartree,
      "Instead of the nuclei's potential take omega^2 r^2 / 2 around their centroid, with this omega in hartree");
  app.add_option("--checkpoint", options.checkpoint_path, "Write the states to this file at the end, and now and then");
  app.add_option("--checkpoint-interval", options.checkpoint_interval, "Iterations from one checkpoint to the next")
      ->capture_default_str();
  app.add_option("--restart", options.restart_path, "Start from the states of this checkpoint, by any number of ranks");
  add_propagation(app, options);
  app.add_flag("--quiet", options.quiet, "Print nothing but errors");
  app.add_option("--image", options.image_path, "Write a picture of the density in the molecular plane (PNG)");
  app.add_option("--image-width", options.image_width_px, "Width of the picture in pixels")->capture_default_str();
  app.add_option("--json", options.json_path, "Write a summary of the run to this file");
  app.add_option("--check-energy", options.expected_energy_hartree,
                 "Fail unless the sum of the states' energies, in hartree, equals this to 1e-10 relative");
}

}  // namespace realspace
