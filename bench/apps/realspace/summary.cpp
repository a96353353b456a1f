#include "realspace/summary.h"

#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/quoted.h"

namespace realspace {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Summary, bench, molecule, spacing_bohr, radius_bohr, softening_bohr, grid_points,
                                   serial, ranks, transport, states, block_width, ghost_points, energy_hartree,
                                   energies_hartree, residual_hartree, converged, iterations, setup_s, steps_s,
                                   exchanges, exchange_bytes, exchange_s, exchange_median_us, sum_s,
                                   picture_bohr_per_px, norm_error)

double relative_difference(double value, double reference) { return std::abs(value - reference) / std::abs(reference); }

void print_summary(const Summary& summary) {
  fmt::print("energy {:.12f} hartree, residual {:.1e}, {} after {} iterations in {:.2f} s\n", summary.energy_hartree,
             summary.residual_hartree, summary.converged ? "done" : "NOT CONVERGED", summary.iterations,
             summary.steps_s);
  if (summary.states > 1) {
    for (double energy : summary.energies_hartree) fmt::print("  {:.10f}\n", energy);
  }
  if (summary.transport.empty()) return;
  fmt::print(
      "communication {}: set-up {:.1f} ms; {} exchanges of {:.0f} bytes, median {:.1f} us, {:.3f} s; sums {:.3f} s\n",
      summary.transport, 1e3 * summary.setup_s, summary.exchanges, summary.exchange_bytes, summary.exchange_median_us,
      summary.exchange_s, summary.sum_s);
}

void write_summary(const Summary& summary, const std::string& path) {
  std::ofstream file(path);
  file << nlohmann::json::array({summary}).dump(2) << '\n';
  if (!file.flush()) throw std::runtime_error(fmt::format("cannot write the summary {}", fab::in_quotes(path)));
}

}  // namespace realspace
