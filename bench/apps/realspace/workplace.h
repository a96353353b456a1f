// Where a calculation runs: in this process alone, or on the ranks of MPI_COMM_WORLD.
#ifndef BENCH_APPS_REALSPACE_WORKPLACE_H
#define BENCH_APPS_REALSPACE_WORKPLACE_H

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "realspace/distribution.h"
#include "realspace/domain.h"
#include "realspace/grid.h"
#include "realspace/molecule.h"
#include "realspace/options.h"
#include "realspace/summary.h"

namespace realspace {

// Calls are collective unless they are const.
class Workplace {
 public:
  virtual ~Workplace() = default;
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  const Molecule& molecule() const { return molecule_; }
  const Grid& grid() const { return grid_; }
  const Domain& domain() const { return domain_; }

  // Of all processes one writes.
  virtual bool is_writer() const = 0;
  // For vectors of so many values per slot; it lives as long as this.
  virtual const Distribution& distribution(std::size_t width) = 0;
  // Of `width` values for each owned slot, all by grid point; empty but in the process that writes.
  virtual std::vector<double> gather(std::span<const double> owned, std::size_t width) = 0;
  // A file as text, of which one process reads it. Throws InputError everywhere or nowhere.
  virtual std::string read_file(const std::string& path) = 0;
  // Throws InputError(message) everywhere if the message of the process that writes is not empty.
  virtual void agree_on_error(const std::string& message) = 0;
  // Of the first distribution: times and sizes of communication.
  virtual void add_communication(Summary& summary) = 0;

 protected:
  Workplace(Molecule molecule, const Options& options)
      : molecule_(std::move(molecule)), grid_(molecule_, options.spacing_bohr, options.radius_bohr) {}

  // Keeps a reference to the molecule.
  Potential potential(const Options& options) const;

  Molecule molecule_;
  Grid grid_;
  Domain domain_;
};

// Makes no call to MPI.
std::unique_ptr<Workplace> make_serial_workplace(const Options& options);

// MPI_COMM_WORLD's error handler must return errors.
std::unique_ptr<Workplace> make_parallel_workplace(const Options& options);

}  // namespace realspace

#endif
