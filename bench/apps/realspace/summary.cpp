#include "realspace/summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/quoted.h"
#include "realspace/input_error.h"
#include "realspace/molecule.h"

namespace realspace {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExchangeTimes, transport, exchanges, median_us, total_s, first_us)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Summary, molecule, spacing_bohr, radius_bohr, softening_bohr, grid_points, serial,
                                   ranks, ghost_points, energy_hartree, residual_hartree, converged, iterations,
                                   iterations_per_s, solve_s, exchange_times)

namespace {

Summary read_summary(const std::string& path) {
  try {
    return nlohmann::json::parse(read_text_file(path)).get<Summary>();
  } catch (const nlohmann::json::exception& error) {
    throw InputError(
        fmt::format("{} is not a summary that --json wrote: {}", fab::in_quotes(path), fab::escaped(error.what())));
  }
}

const ExchangeTimes* find_times(const Summary& summary, const std::string& transport) {
  const auto& times = summary.exchange_times;
  const auto found = std::find_if(times.begin(), times.end(), [&](auto& t) { return t.transport == transport; });
  return found == times.end() ? nullptr : &*found;
}

std::string number_or_dash(const char* format, bool known, double value) {
  return known ? fmt::format(fmt::runtime(format), value) : "-";
}

void print_row(const Summary& run, const Summary& reference) {
  const ExchangeTimes* fab = find_times(run, "fab");
  const ExchangeTimes* mpi = find_times(run, "mpi");
  const auto cell = [](const ExchangeTimes* times) {
    return times ? fmt::format("{:9.1f} us {:7.3f} s", times->median_us, times->total_s) : std::string("-");
  };
  fmt::print(
      "{:>6} {:>18.12f} {:>10.1e} {:>7.1f} {:>22} {:>22} {:>7}\n", run.serial ? "serial" : std::to_string(run.ranks),
      run.energy_hartree, relative_difference(run.energy_hartree, reference.energy_hartree), run.iterations_per_s,
      cell(fab), cell(mpi),
      number_or_dash("{:.2f}", fab && mpi && mpi->median_us > 0, fab && mpi ? fab->median_us / mpi->median_us : 0));
}

}  // namespace

double relative_difference(double value, double reference) { return std::abs(value - reference) / std::abs(reference); }

void print_summary(const Summary& summary) {
  fmt::print("energy {:.12f} hartree, residual {:.1e}, {} after {} iterations\n", summary.energy_hartree,
             summary.residual_hartree, summary.converged ? "done" : "NOT CONVERGED", summary.iterations);
  fmt::print("{:.1f} iterations/s, {:.2f} s\n", summary.iterations_per_s, summary.solve_s);
  for (const ExchangeTimes& times : summary.exchange_times) {
    fmt::print("communication {}: {} exchanges, median {:.1f} us, total {:.3f} s; the first took {:.1f} us\n",
               times.transport, times.exchanges, times.median_us, times.total_s, times.first_us);
  }
}

void write_summary(const Summary& summary, const std::string& path) {
  std::ofstream file(path);
  file << nlohmann::json(summary).dump(2) << '\n';
  if (!file.flush()) throw std::runtime_error(fmt::format("cannot write the summary {}", fab::in_quotes(path)));
}

bool print_report(const std::vector<std::string>& paths) {
  std::vector<Summary> runs;
  runs.reserve(paths.size());
  for (const std::string& path : paths) runs.push_back(read_summary(path));
  const Summary& reference = runs.front();
  if (!reference.serial) throw InputError(fmt::format("{} is not of a --serial run", fab::in_quotes(paths.front())));

  fmt::print("{}: {} grid points, spacing {:g} bohr\n", reference.molecule, reference.grid_points,
             reference.spacing_bohr);
  fmt::print("{:>6} {:>18} {:>10} {:>7} {:>22} {:>22} {:>7}\n", "", "energy", "relative", "itera-", "communication fab",
             "communication MPI", "fab /");
  fmt::print("{:>6} {:>18} {:>10} {:>7} {:>22} {:>22} {:>7}\n", "ranks", "[hartree]", "difference", "tions/s",
             "median, total", "median, total", "MPI");
  bool equal = true;
  for (const Summary& run : runs) {
    print_row(run, reference);
    // Written so that a NaN fails.
    if (!(relative_difference(run.energy_hartree, reference.energy_hartree) <= kEnergyTolerance)) equal = false;
  }
  if (!equal) fmt::print("energies differ from the serial run's by more than {:.0e} relative\n", kEnergyTolerance);
  return equal;
}

}  // namespace realspace
