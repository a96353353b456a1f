#include "realspace/halo.h"

#include <algorithm>
#include <exception>

#include "mpi_call.h"

namespace realspace {

using apps::check_mpi;

namespace {

// The drop-in library leaves the first calls on a communicator to MPI: two vectors make it take over.
constexpr int kFirstExchanges = 3;

Blocks blocks_of(const Domain& domain, MPI_Comm comm, int width) {
  Blocks blocks;
  blocks.comm = comm;
  int sent = 0;
  int received = 0;
  for (const Domain::Neighbor& neighbor : domain.neighbors) {
    blocks.send_counts.push_back(width * static_cast<int>(neighbor.send_slots.size()));
    blocks.send_displacements.push_back(sent);
    blocks.receive_counts.push_back(width * neighbor.ghost_count);
    blocks.receive_displacements.push_back(received);
    sent += blocks.send_counts.back();
    received += blocks.receive_counts.back();
  }
  blocks.sent_bytes = static_cast<std::size_t>(sent) * sizeof(double);
  return blocks;
}

}  // namespace

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

Halo::Halo(const Transport& transport, const Domain& domain, MPI_Comm comm, std::size_t width)
    : domain_(domain),
      width_(width),
      blocks_(blocks_of(domain, comm, static_cast<int>(width))),
      exchange_(transport.make(blocks_)) {}

void Halo::attach(double* x) {
  exchange_->attach(ghosts(x));
  for (int i = 0; i < kFirstExchanges; ++i) {
    start(x);
    wait();
  }
  seconds_.clear();
}

void Halo::start(double* x) {
  double* packed = exchange_->send_buffer();
  for (const Domain::Neighbor& neighbor : domain_.neighbors) {
    for (std::int32_t slot : neighbor.send_slots) {
      packed = std::copy_n(x + static_cast<std::size_t>(slot) * width_, width_, packed);
    }
  }
  const double begin = MPI_Wtime();
  request_ = exchange_->start(ghosts(x));
  start_seconds_ = MPI_Wtime() - begin;
}

void Halo::wait() {
  const double begin = MPI_Wtime();
  // The transport made the request, out of the analyzer's sight.
  check_mpi(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker)
  seconds_.push_back(start_seconds_ + MPI_Wtime() - begin);
}

}  // namespace realspace
