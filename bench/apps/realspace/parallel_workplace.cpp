#include <mpi.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "realspace/collection.h"
#include "realspace/halo.h"
#include "realspace/hamiltonian.h"
#include "realspace/input_error.h"
#include "realspace/partition.h"
#include "realspace/workplace.h"

namespace realspace {
namespace {

// H and the exchange for vectors of one width, and the seconds that its communication took.
struct Operation {
  Operation(const Domain& domain, const Grid& grid, const Potential& potential, std::size_t width)
      : hamiltonian(domain, grid, potential, width) {}

  Hamiltonian hamiltonian;
  std::unique_ptr<Halo> halo;
  double setup_s = 0;
  double sum_s = 0;
  Distribution distribution;
};

// Adds what `work` takes.
template <class Work>
void timed(double& seconds, Work work) {
  const double begin = MPI_Wtime();
  work();
  seconds += MPI_Wtime() - begin;
}

class ParallelWorkplace final : public Workplace {
 public:
  ParallelWorkplace(Molecule molecule, const Options& options, const Team& team)
      : Workplace(std::move(molecule), options),
        potential_(potential(options)),
        transport_(*options.transport),
        team_(team) {
    const std::vector<int> part_of_point = partition_everywhere(grid_, team_);
    neighbors_ = part_neighbors(grid_, part_of_point, team_.ranks);
    domain_ = make_domain(grid_, part_of_point, team_.rank, neighbors_[static_cast<std::size_t>(team_.rank)]);
  }

  bool is_writer() const override { return team_.rank == 0; }

  const Distribution& distribution(std::size_t width) override {
    operations_.push_back(std::make_unique<Operation>(domain_, grid_, potential_, width));
    Operation& operation = *operations_.back();
    sum_over_ranks(0);  // all ranks have come so far, and know each other
    timed(operation.setup_s, [&] {
      if (!graph_) graph_ = std::make_unique<GraphCommunicator>(MPI_COMM_WORLD, neighbors_);
      operation.halo = std::make_unique<Halo>(transport_, domain_, graph_->get(), width);
    });
    const std::size_t owned = domain_.owned_count();
    const std::size_t inner = domain_.inner_count;
    operation.distribution = {
        owned,
        domain_.slot_count(),
        width,
        [&operation](double* x) { timed(operation.setup_s, [&] { operation.halo->attach(x); }); },
        [&operation, owned, inner](const Affine& affine, double* x, double* y) {
          operation.halo->start(x);
          operation.hamiltonian.apply(affine, x, y, 0, inner);
          operation.halo->wait();
          operation.hamiltonian.apply(affine, x, y, inner, owned);
        },
        [&operation](std::span<double> sums) { timed(operation.sum_s, [&] { sum_in_place(sums); }); },
        largest_of_ranks(operation.hamiltonian.upper_bound_hartree())};
    return operation.distribution;
  }

  std::vector<double> gather(std::span<const double> owned, std::size_t width) override {
    return gather_by_point(domain_, owned, width, grid_.size(), team_);
  }

  std::string read_file(const std::string& path) override { return read_text_everywhere(path, team_); }

  void agree_on_error(const std::string& message) override {
    const std::string agreed = broadcast(message, team_);
    if (!agreed.empty()) throw InputError(agreed);
  }

  void add_communication(Summary& summary) override {
    Operation& operation = *operations_.front();
    const Halo& halo = *operation.halo;
    summary.ranks = team_.ranks;
    summary.transport = transport_.name;
    summary.ghost_points = static_cast<int>(sum_over_ranks(static_cast<double>(domain_.ghost_count)));
    summary.setup_s = largest_of_ranks(operation.setup_s);
    summary.exchange_bytes = sum_over_ranks(static_cast<double>(halo.sent_bytes())) / team_.ranks;
    summary.sum_s = sum_over_ranks(operation.sum_s) / team_.ranks;
    std::vector<double> exchanges = means_over_ranks(halo.seconds(), team_);
    summary.exchanges = static_cast<int>(exchanges.size());
    summary.exchange_s = std::accumulate(exchanges.begin(), exchanges.end(), 0.0);
    if (exchanges.empty()) return;
    const auto middle = exchanges.begin() + static_cast<std::ptrdiff_t>(exchanges.size() / 2);
    std::nth_element(exchanges.begin(), middle, exchanges.end());
    summary.exchange_median_us = 1e6 * *middle;
  }

 private:
  const Potential potential_;
  const Transport& transport_;
  const Team team_;
  std::vector<std::vector<int>> neighbors_;  // of each rank
  std::unique_ptr<GraphCommunicator> graph_;
  std::vector<std::unique_ptr<Operation>> operations_;
};

}  // namespace

std::unique_ptr<Workplace> make_parallel_workplace(const Options& options) {
  const Team team = world_team();
  return std::make_unique<ParallelWorkplace>(
      parse_xyz(read_text_everywhere(options.molecule_path, team), options.molecule_path), options, team);
}

}  // namespace realspace
