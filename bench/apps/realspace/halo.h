// The exchange of ghost values, and the time that it takes.
#ifndef BENCH_APPS_REALSPACE_HALO_H
#define BENCH_APPS_REALSPACE_HALO_H

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "realspace/domain.h"
#include "realspace/transport.h"

namespace realspace {

// A graph communicator over `world` whose ranks have the neighbors listed per rank. Owned.
class GraphCommunicator {
 public:
  GraphCommunicator(MPI_Comm world, const std::vector<std::vector<int>>& neighbors);
  ~GraphCommunicator();
  GraphCommunicator(const GraphCommunicator&) = delete;
  GraphCommunicator& operator=(const GraphCommunicator&) = delete;

  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// All transports use the same communicator, counts and displacements. Boundary values are packed into memory that the
// transport's library gave. One exchange at a time.
class Halo {
 public:
  // `domain` must outlive the halo; `comm`'s neighbors are the domain's, in the same order. Vectors have `width` values
  // per slot.
  Halo(const Transport& transport, const Domain& domain, MPI_Comm comm, std::size_t width);
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;

  // Collective. Makes what exchanges of the ghost slots of x need, and exchanges them some times.
  void attach(double* x);

  // Starts filling the ghost slots of x, which is attached; neither they nor the packed boundary values may be touched
  // until wait().
  void start(double* x);
  void wait();

  // Seconds in the starting call and in MPI_Wait, together, of every exchange since the last attach(). Packing is not
  // included.
  const std::vector<double>& seconds() const { return seconds_; }
  // Of what this rank sends in an exchange.
  std::size_t sent_bytes() const { return blocks_.sent_bytes; }

 private:
  double* ghosts(double* x) const { return x + domain_.owned_count() * width_; }

  const Domain& domain_;
  const std::size_t width_;
  const Blocks blocks_;
  const std::unique_ptr<Exchange> exchange_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  double start_seconds_ = 0;
  std::vector<double> seconds_;
};

}  // namespace realspace

#endif
