#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "realspace/hamiltonian.h"
#include "realspace/input_error.h"
#include "realspace/workplace.h"

namespace realspace {
namespace {

class SerialWorkplace final : public Workplace {
 public:
  SerialWorkplace(Molecule molecule, const Options& options)
      : Workplace(std::move(molecule), options), potential_(potential(options)) {
    domain_ = make_domain(grid_, std::vector<int>(grid_.size(), 0), 0, {});
  }

  bool is_writer() const override { return true; }

  const Distribution& distribution(std::size_t width) override {
    const std::size_t owned = domain_.owned_count();
    hamiltonians_.push_back(std::make_unique<Hamiltonian>(domain_, grid_, potential_, width));
    const Hamiltonian& hamiltonian = *hamiltonians_.back();
    distributions_.push_back(std::make_unique<Distribution>(
        Distribution{owned, domain_.slot_count(), width, [](double*) {},
                     [&hamiltonian, owned](const Affine& affine, const double* x, double* y) {
                       hamiltonian.apply(affine, x, y, 0, owned);
                     },
                     [](std::span<double>) {}, hamiltonian.upper_bound_hartree()}));
    return *distributions_.back();
  }

  // One domain owns the points in their order.
  std::vector<double> gather(std::span<const double> owned, std::size_t) override {
    return {owned.begin(), owned.end()};
  }

  std::string read_file(const std::string& path) override { return read_text_file(path); }

  void agree_on_error(const std::string& message) override {
    if (!message.empty()) throw InputError(message);
  }

  void add_communication(Summary&) override {}

 private:
  const Potential potential_;
  std::vector<std::unique_ptr<Hamiltonian>> hamiltonians_;
  std::vector<std::unique_ptr<Distribution>> distributions_;
};

}  // namespace

Potential Workplace::potential(const Options& options) const {
  return options.harmonic_hartree ? harmonic_potential(molecule_.centroid_bohr(), *options.harmonic_hartree)
                                  : coulomb_potential(molecule_, options.softening_bohr);
}

std::unique_ptr<Workplace> make_serial_workplace(const Options& options) {
  return std::make_unique<SerialWorkplace>(parse_xyz(read_text_file(options.molecule_path), options.molecule_path),
                                           options);
}

}  // namespace realspace
