#include "realspace/job.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <numeric>
#include <utility>

#include "core/base/quoted.h"
#include "realspace/checkpoint.h"
#include "realspace/filtered_subspace.h"
#include "realspace/image.h"
#include "realspace/input_error.h"
#include "realspace/propagation.h"
#include "realspace/solver.h"
#include "realspace/start.h"
#include "realspace/summary.h"
#include "realspace/workplace.h"

namespace realspace {
namespace {

constexpr int kProgressInterval = 20;  // iterations for one state; those for several take longer

class Job {
 public:
  Job(const Options& options, Workplace& place)
      : options_(options),
        place_(place),
        count_(static_cast<std::size_t>(options.states)),
        width_(options.states == 1 ? 1 : block_width(options.states)),
        shows_(place.is_writer() && !options.quiet) {
    if (width_ * 4 > place.grid().size()) {
      throw InputError(fmt::format("--states {} takes {} vectors, too many for {} grid points", options.states, width_,
                                   place.grid().size()));
    }
  }

  bool run() {
    if (shows_) {
      fmt::print("{}: {} atoms, {} grid points\n", place_.molecule().name, place_.molecule().atoms.size(),
                 place_.grid().size());
    }
    const Solution solution = solve();
    save(solution.states);
    summarize(solution);
    draw(solution);
    if (options_.kick_per_bohr != 0) move(solution);
    if (place_.is_writer()) publish();
    return summary_.converged && has_expected_energy();
  }

 private:
  Solution solve() {
    const auto progress = [this](const Stage& stage) { tell(stage); };
    std::vector<double> start = begin();
    const Distribution& distribution = place_.distribution(width_);
    if (options_.states == 1) return lowest_state(distribution, options_.limits, std::move(start), progress);
    return lowest_states(distribution, options_.limits, options_.filter_degree, options_.states, std::move(start),
                         progress);
  }

  void tell(const Stage& stage) {
    if (stage.iteration > 0 && stage.iteration % options_.checkpoint_interval == 0) save(stage.states);
    const int interval = options_.states == 1 ? kProgressInterval : 1;
    if (!shows_ || stage.iteration % interval != 0) return;
    fmt::print("iteration {:4}  energy {:.10f} hartree  residual {:.1e}\n", stage.iteration, stage.energy_hartree,
               stage.residual_hartree);
    std::fflush(stdout);
  }

  // The vectors to start from; those of the checkpoint take the first places.
  std::vector<double> begin() {
    std::vector<double> start = starting_states(place_.domain(), place_.grid(), place_.molecule(), width_);
    if (options_.restart_path.empty()) return start;
    const Checkpoint found = parse_checkpoint(place_.read_file(options_.restart_path), options_.restart_path);
    require_same_grid(found, checkpoint({}), options_.restart_path);
    for (std::size_t i = 0; i < place_.domain().owned_count(); ++i) {
      const auto point = static_cast<std::size_t>(place_.domain().owned[i]);
      std::copy_n(&found.values[point * found.width], std::min(width_, found.width), &start[i * width_]);
    }
    return start;
  }

  Checkpoint checkpoint(std::vector<double> values) const {
    return {place_.grid().size(),    width_,           options_.spacing_bohr, options_.radius_bohr,
            place_.molecule().atoms, std::move(values)};
  }

  void save(const std::vector<double>& states) {
    if (options_.checkpoint_path.empty()) return;
    std::vector<double> values = place_.gather(owned(states), width_);
    place_.agree_on_error(place_.is_writer() ? write_checkpoint(checkpoint(std::move(values)), options_.checkpoint_path)
                                             : "");
  }

  std::span<const double> owned(const std::vector<double>& states) const {
    return {states.data(), place_.domain().owned_count() * width_};
  }

  void summarize(const Solution& solution) {
    summary_.molecule = options_.molecule_path;
    summary_.spacing_bohr = options_.spacing_bohr;
    summary_.radius_bohr = options_.radius_bohr;
    summary_.softening_bohr = options_.softening_bohr;
    summary_.grid_points = static_cast<int>(place_.grid().size());
    summary_.serial = options_.serial;
    summary_.states = options_.states;
    summary_.block_width = static_cast<int>(width_);
    summary_.steps_s = solution.seconds;
    summary_.iterations = solution.iterations;
    summary_.energies_hartree = solution.energies_hartree;
    summary_.energy_hartree = std::accumulate(solution.energies_hartree.begin(), solution.energies_hartree.end(), 0.0);
    summary_.residual_hartree = solution.residual_hartree;
    summary_.converged = solution.converged;
    place_.add_communication(summary_);
  }

  // The root of the sum of the states' densities.
  void draw(const Solution& solution) {
    if (options_.image_path.empty()) return;
    std::vector<double> amplitude(place_.domain().owned_count());
    for (std::size_t i = 0; i < amplitude.size(); ++i) {
      const double* values = &solution.states[i * width_];
      amplitude[i] = std::sqrt(std::inner_product(values, values + count_, values, 0.0));
    }
    amplitude = place_.gather(amplitude, 1);
    if (!place_.is_writer()) return;
    summary_.picture_bohr_per_px =
        write_density_image(options_.image_path, place_.grid(), place_.molecule(), amplitude, options_.image_width_px);
  }

  void move(const Solution& solution) {
    const std::size_t axis = options_.kick_axis == "x" ? 0 : options_.kick_axis == "y" ? 1 : 2;
    const Vector3 center = place_.molecule().centroid_bohr();
    std::vector<double> x_bohr;
    for (std::int32_t point : place_.domain().owned) {
      x_bohr.push_back(place_.grid().position_bohr(point)[axis] - center[axis]);
    }
    const Distribution& distribution = place_.distribution(2 * count_);
    const double margin = 0.01 * (distribution.highest_hartree - solution.energies_hartree.front());
    const TimeSteps steps{options_.time_step_au, options_.time_steps, solution.energies_hartree.front() - margin};
    const Motion motion = propagate(
        distribution, steps,
        kicked(solution.states, width_, count_, distribution.slot_count, x_bohr, options_.kick_per_bohr), x_bohr);
    summary_.norm_error = motion.norm_error;
    if (place_.is_writer()) write(motion);
  }

  void write(const Motion& motion) const {
    std::string dipole = "# time, position along the kick (atomic units)\n";
    for (std::size_t i = 0; i < motion.position_bohr.size(); ++i) {
      dipole += fmt::format("{:.10g} {:.15g}\n", static_cast<double>(i) * motion.time_step_au, motion.position_bohr[i]);
    }
    write_text(options_.dipole_path, dipole);
    constexpr double kHighestHartree = 3;
    std::string lines = "# energy [hartree], dipole strength [1/hartree]\n";
    for (const SpectrumPoint& point : spectrum(motion, options_.kick_per_bohr, kHighestHartree)) {
      lines += fmt::format("{:.6f} {:.10g}\n", point.energy_hartree, point.strength);
    }
    write_text(options_.spectrum_path, lines);
  }

  static void write_text(const std::string& path, const std::string& text) {
    if (path.empty()) return;
    std::ofstream file(path);
    file << text;
    if (!file.flush()) throw std::runtime_error(fmt::format("cannot write {}", fab::in_quotes(path)));
  }

  bool has_expected_energy() const {
    return !options_.expected_energy_hartree ||
           relative_difference(summary_.energy_hartree, *options_.expected_energy_hartree) <= kEnergyTolerance;
  }

  // What one process does at the end.
  void publish() const {
    if (shows_) print_summary(summary_);
    if (!options_.json_path.empty()) write_summary(summary_, options_.json_path);
    if (!summary_.converged) {
      fmt::print(stderr, "realspace: not converged: residual {:.1e} hartree after {} iterations, asked for {:.1e}\n",
                 summary_.residual_hartree, summary_.iterations, options_.limits.tolerance);
    }
    if (!has_expected_energy()) {
      fmt::print(stderr, "realspace: energy {:.14g} hartree differs from the expected {:.14g} by {:.1e} relative\n",
                 summary_.energy_hartree, *options_.expected_energy_hartree,
                 relative_difference(summary_.energy_hartree, *options_.expected_energy_hartree));
    }
  }

  const Options& options_;
  Workplace& place_;
  const std::size_t count_;  // of the states that are asked for
  const std::size_t width_;  // of the vectors that are worked on
  const bool shows_;
  Summary summary_;
};

}  // namespace

bool run(const Options& options) {
  validate(options);
  const std::unique_ptr<Workplace> place =
      options.serial ? make_serial_workplace(options) : make_parallel_workplace(options);
  return Job(options, *place).run();
}

}  // namespace realspace
