#include "realspace/halo.h"

#include <exception>

#include "fab/mpi.h"
#include "mpi_call.h"

namespace realspace {

using apps::check_mpi;

const char* name(Transport transport) { return transport == Transport::fab ? "fab" : "mpi"; }

GraphCommunicator::GraphCommunicator(MPI_Comm world, const std::vector<std::vector<int>>& neighbors) {
  std::vector<int> index;
  std::vector<int> edges;
  edges.reserve(1);  // a graph without edges must still pass an address
  for (const std::vector<int>& row : neighbors) {
    edges.insert(edges.end(), row.begin(), row.end());
    index.push_back(static_cast<int>(edges.size()));
  }
  check_mpi(MPI_Graph_create(world, static_cast<int>(index.size()), index.data(), edges.data(), 0, &comm_),
            "MPI_Graph_create");
}

GraphCommunicator::~GraphCommunicator() {
  // Freeing is collective: not while this rank, perhaps alone, is on its way to MPI_Abort.
  if (std::uncaught_exceptions() == 0) MPI_Comm_free(&comm_);
}

Halo::Halo(const Domain& domain, MPI_Comm comm) : domain_(domain), comm_(comm) {
  int sent = 0;
  int received = 0;
  for (const Domain::Neighbor& neighbor : domain.neighbors) {
    send_counts_.push_back(static_cast<int>(neighbor.send_slots.size()));
    send_displacements_.push_back(sent);
    receive_counts_.push_back(neighbor.ghost_count);
    receive_displacements_.push_back(received);
    sent += send_counts_.back();
    received += neighbor.ghost_count;
  }
  packed_.resize(static_cast<std::size_t>(sent));
}

void Halo::start(Transport transport, double* x) {
  auto packed = packed_.begin();
  for (const Domain::Neighbor& neighbor : domain_.neighbors) {
    for (std::int32_t slot : neighbor.send_slots) *packed++ = x[slot];
  }
  double* ghosts = x + domain_.owned_count();
  active_ = transport;
  const double begin = MPI_Wtime();
  if (transport == Transport::fab) {
    check_mpi(MPI_Ineighbor_xchgv(packed_.data(), send_counts_.data(), send_displacements_.data(), MPI_DOUBLE, ghosts,
                                  receive_counts_.data(), receive_displacements_.data(), MPI_DOUBLE, comm_, &request_),
              "MPI_Ineighbor_xchgv");
  } else {
    check_mpi(
        MPI_Ineighbor_alltoallv(packed_.data(), send_counts_.data(), send_displacements_.data(), MPI_DOUBLE, ghosts,
                                receive_counts_.data(), receive_displacements_.data(), MPI_DOUBLE, comm_, &request_),
        "MPI_Ineighbor_alltoallv");
  }
  start_seconds_ = MPI_Wtime() - begin;
}

void Halo::wait() {
  const double begin = MPI_Wtime();
  // start() made the request, out of the analyzer's sight.
  check_mpi(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker)
  seconds_[static_cast<std::size_t>(active_)].push_back(start_seconds_ + MPI_Wtime() - begin);
}

}  // namespace realspace
