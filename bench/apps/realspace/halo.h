// The exchange of ghost values, by fab or by the MPI library's own neighbour collective, and the time each takes.
#ifndef BENCH_APPS_REALSPACE_HALO_H
#define BENCH_APPS_REALSPACE_HALO_H

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "realspace/domain.h"

namespace realspace {

enum class Transport { fab, mpi };
inline constexpr std::array kTransports = {Transport::fab, Transport::mpi};

// "fab" or "mpi".
const char* name(Transport transport);

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

// Both transports use the same communicator, counts, displacements and buffers. One exchange at a time.
class Halo {
 public:
  // `domain` must outlive the halo; `comm`'s neighbors are the domain's, in the same order.
  Halo(const Domain& domain, MPI_Comm comm);

  // Starts filling the ghost slots of x; neither they nor the packed boundary values may be touched until wait().
  void start(Transport transport, double* x);
  void wait();

  // Seconds in the starting call and in MPI_Wait, together, of every exchange so far. Packing is not included.
  const std::vector<double>& seconds(Transport transport) const {
    return seconds_[static_cast<std::size_t>(transport)];
  }

 private:
  const Domain& domain_;
  MPI_Comm comm_;
  std::vector<int> send_counts_, send_displacements_;
  std::vector<int> receive_counts_, receive_displacements_;
  std::vector<double> packed_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  Transport active_ = Transport::fab;
  double start_seconds_ = 0;
  std::array<std::vector<double>, kTransports.size()> seconds_;
};

}  // namespace realspace

#endif
