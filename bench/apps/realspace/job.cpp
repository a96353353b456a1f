#include "realspace/job.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "mpi_call.h"
#include "realspace/domain.h"
#include "realspace/grid.h"
#include "realspace/hamiltonian.h"
#include "realspace/image.h"
#include "realspace/input_error.h"
#include "realspace/partition.h"
#include "realspace/summary.h"

namespace realspace {
namespace {

using apps::check_mpi;

constexpr int kProgressInterval = 20;  // iterations

// Sum of exponentials around the nuclei: positive, as the lowest state is, and the same for every partition.
std::vector<double> starting_state(const Domain& domain, const Grid& grid, const Molecule& molecule) {
  std::vector<double> state(domain.slot_count(), 0.0);
  for (std::size_t i = 0; i < domain.owned_count(); ++i) {
    for (const Atom& atom : molecule.atoms) {
      const Vector3 d = grid.position_bohr(domain.owned[i]) - atom.position_bohr;
      state[i] += std::exp(-std::sqrt(dot(d, d)));
    }
  }
  return state;
}

Summary begin_summary(const Options& options, const Grid& grid) {
  Summary summary;
  summary.molecule = options.molecule_path;
  summary.spacing_bohr = options.spacing_bohr;
  summary.radius_bohr = options.radius_bohr;
  summary.softening_bohr = options.softening_bohr;
  summary.grid_points = static_cast<int>(grid.size());
  summary.serial = options.serial;
  return summary;
}

Solution solve(const Distribution& distribution, const Options& options, std::vector<double> start, bool show,
               Summary& summary) {
  const auto begin = std::chrono::steady_clock::now();
  const auto progress = [&](int iteration, double energy_hartree, double residual_hartree) {
    if (!show || iteration % kProgressInterval != 0) return;
    fmt::print("iteration {:4}  energy {:.10f} hartree  residual {:.1e}\n", iteration, energy_hartree,
               residual_hartree);
    std::fflush(stdout);
  };
  Solution solution = lowest_state(distribution, options.limits, std::move(start), progress);
  summary.solve_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  summary.iterations_per_s = solution.iterations / summary.solve_s;
  summary.iterations = solution.iterations;
  summary.energy_hartree = solution.energy_hartree;
  summary.residual_hartree = solution.residual_hartree;
  summary.converged = solution.converged;
  return solution;
}

bool has_expected_energy(const Options& options, double energy_hartree) {
  return !options.expected_energy_hartree ||
         relative_difference(energy_hartree, *options.expected_energy_hartree) <= kEnergyTolerance;
}

// What one process does at the end. `state` has a value for every grid point, or is empty without a picture to draw.
void publish(const Options& options, const Summary& summary, const Grid& grid, const Molecule& molecule,
             const std::vector<double>& state) {
  if (!options.quiet) print_summary(summary);
  if (!options.json_path.empty()) write_summary(summary, options.json_path);
  if (!options.image_path.empty()) {
    write_density_image(options.image_path, grid, molecule, state, options.image_width_px);
  }
  if (!summary.converged) {
    fmt::print(stderr, "realspace: not converged: residual {:.1e} hartree after {} iterations, asked for {:.1e}\n",
               summary.residual_hartree, summary.iterations, options.limits.tolerance);
  }
  if (!has_expected_energy(options, summary.energy_hartree)) {
    fmt::print(stderr, "realspace: energy {:.14g} hartree differs from the expected {:.14g} by {:.1e} relative\n",
               summary.energy_hartree, *options.expected_energy_hartree,
               relative_difference(summary.energy_hartree, *options.expected_energy_hartree));
  }
}

// Reads the file on rank 0 only, so that it need not exist on other nodes. Throws InputError on all ranks or on none.
std::string read_text_everywhere(const std::string& path, int rank) {
  std::string text;
  int is_text = 1;
  if (rank == 0) {
    try {
      text = read_text_file(path);
    } catch (const InputError& error) {
      text = error.what();
      is_text = 0;
    }
  }
  auto length = static_cast<int>(text.size());
  check_mpi(MPI_Bcast(&is_text, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  check_mpi(MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
  if (is_text == 0) throw InputError(text);
  return text;
}

std::vector<int> partition_everywhere(const Grid& grid, int rank, int ranks) {
  if (static_cast<std::size_t>(ranks) > grid.size()) {
    throw InputError(
        fmt::format("{} ranks for {} grid points: there must be a point for every rank", ranks, grid.size()));
  }
  std::vector<int> part_of_point(grid.size());
  if (rank == 0) part_of_point = partition_points(grid, ranks);
  check_mpi(MPI_Bcast(part_of_point.data(), static_cast<int>(grid.size()), MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return part_of_point;
}

// Which transport an exchange uses: they take turns, some exchanges each.
class Turns {
 public:
  explicit Turns(const Options& options) : options_(options) {}
  Transport next() {
    const int turn = exchange_++ / options_.batch_iterations;
    return options_.transports[static_cast<std::size_t>(turn) % options_.transports.size()];
  }

 private:
  const Options& options_;
  int exchange_ = 0;
};

// On rank 0; elsewhere the figures mean nothing.
ExchangeTimes exchange_times(const Halo& halo, Transport transport, int ranks) {
  const std::vector<double>& seconds = halo.seconds(transport);
  std::vector<double> mean(seconds.size());
  check_mpi(
      MPI_Reduce(seconds.data(), mean.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD),
      "MPI_Reduce");
  for (double& value : mean) value /= ranks;
  ExchangeTimes times{name(transport), static_cast<int>(mean.size()) - 1, 0, 0, 1e6 * mean.front()};
  mean.erase(mean.begin());
  for (double value : mean) times.total_s += value;
  if (mean.empty()) return times;
  const auto middle = mean.begin() + static_cast<std::ptrdiff_t>(mean.size() / 2);
  std::nth_element(mean.begin(), middle, mean.end());
  times.median_us = 1e6 * *middle;
  return times;
}

// The state by grid point on rank 0, empty elsewhere.
std::vector<double> gather_state(const Domain& domain, const std::vector<double>& state, std::size_t grid_points,
                                 int rank, int ranks) {
  const auto count = static_cast<int>(domain.owned_count());
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  check_mpi(MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
  std::vector<int> displacements(counts.size());
  for (std::size_t i = 1; i < counts.size(); ++i) displacements[i] = displacements[i - 1] + counts[i - 1];

  const std::size_t received = rank == 0 ? grid_points : 0;
  std::vector<std::int32_t> points(received);
  std::vector<double> values(received);
  check_mpi(MPI_Gatherv(domain.owned.data(), count, MPI_INT32_T, points.data(), counts.data(), displacements.data(),
                        MPI_INT32_T, 0, MPI_COMM_WORLD),
            "MPI_Gatherv");
  check_mpi(MPI_Gatherv(state.data(), count, MPI_DOUBLE, values.data(), counts.data(), displacements.data(), MPI_DOUBLE,
                        0, MPI_COMM_WORLD),
            "MPI_Gatherv");
  std::vector<double> by_point(received);
  for (std::size_t i = 0; i < received; ++i) by_point[static_cast<std::size_t>(points[i])] = values[i];
  return by_point;
}

}  // namespace

bool run_serial(const Options& options) {
  validate(options);
  const Molecule molecule = parse_xyz(read_text_file(options.molecule_path), options.molecule_path);
  const Grid grid(molecule, options.spacing_bohr, options.radius_bohr);
  const Domain domain = make_domain(grid, std::vector<int>(grid.size(), 0), 0, {});
  const Hamiltonian hamiltonian(domain, grid, molecule, options.softening_bohr);
  Summary summary = begin_summary(options, grid);
  const bool show = !options.quiet;
  if (show) fmt::print("{}: {} atoms, {} grid points, serial\n", molecule.name, molecule.atoms.size(), grid.size());

  const Distribution distribution{domain.owned_count(), domain.slot_count(),
                                  [&](const double* x, double* y) { hamiltonian.apply(x, y, 0, domain.owned_count()); },
                                  [](std::span<double>) {}};
  const Solution solution = solve(distribution, options, starting_state(domain, grid, molecule), show, summary);
  publish(options, summary, grid, molecule, solution.state);  // one domain owns the points in their order
  return summary.converged && has_expected_energy(options, summary.energy_hartree);
}

bool run_parallel(const Options& options) {
  validate(options);
  int rank = 0;
  int ranks = 1;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  const Molecule molecule = parse_xyz(read_text_everywhere(options.molecule_path, rank), options.molecule_path);
  const Grid grid(molecule, options.spacing_bohr, options.radius_bohr);
  const std::vector<int> part_of_point = partition_everywhere(grid, rank, ranks);
  const std::vector<std::vector<int>> neighbors = part_neighbors(grid, part_of_point, ranks);
  const Domain domain = make_domain(grid, part_of_point, rank, neighbors[static_cast<std::size_t>(rank)]);
  const Hamiltonian hamiltonian(domain, grid, molecule, options.softening_bohr);
  const GraphCommunicator graph(MPI_COMM_WORLD, neighbors);
  Halo halo(domain, graph.get());

  Summary summary = begin_summary(options, grid);
  summary.ranks = ranks;
  const auto ghosts = static_cast<int>(domain.ghost_count);
  check_mpi(MPI_Allreduce(&ghosts, &summary.ghost_points, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  const bool show = rank == 0 && !options.quiet;
  if (show) {
    fmt::print("{}: {} atoms, {} grid points, {} rank(s), {} ghost points\n", molecule.name, molecule.atoms.size(),
               grid.size(), ranks, summary.ghost_points);
  }

  std::vector<double> start = starting_state(domain, grid, molecule);
  for (Transport transport : options.transports) {  // connections are made here, not in the measured exchanges
    halo.start(transport, start.data());
    halo.wait();
  }
  Turns turns(options);
  const Distribution distribution{domain.owned_count(), domain.slot_count(),
                                  [&](double* x, double* y) {
                                    halo.start(turns.next(), x);
                                    hamiltonian.apply(x, y, 0, domain.inner_count);
                                    halo.wait();
                                    hamiltonian.apply(x, y, domain.inner_count, domain.owned_count());
                                  },
                                  [](std::span<double> sums) {
                                    check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()),
                                                            MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
                                              "MPI_Allreduce");
                                  }};
  const Solution solution = solve(distribution, options, std::move(start), show, summary);

  for (Transport transport : options.transports) {
    summary.exchange_times.push_back(exchange_times(halo, transport, ranks));
  }
  std::vector<double> state;
  if (!options.image_path.empty()) state = gather_state(domain, solution.state, grid.size(), rank, ranks);
  if (rank == 0) publish(options, summary, grid, molecule, state);
  return summary.converged && has_expected_energy(options, summary.energy_hartree);
}

}  // namespace realspace
