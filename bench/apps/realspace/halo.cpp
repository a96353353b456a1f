#include "realspace/halo.h"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>

#include "fab/mpi.h"
#include "mpi_call.h"

namespace realspace {

using apps::check_mpi;

namespace {

// The drop-in library leaves the first calls on a communicator to MPI: two vectors make it take over.
constexpr int kFirstExchanges = 3;

void free_of_fab(double* memory) { fab_free(memory); }
void free_of_mpi(double* memory) { MPI_Free_mem(memory); }

}  // namespace

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

Halo::Halo(Transport transport, const Domain& domain, MPI_Comm comm, std::size_t width)
    : transport_(transport), domain_(domain), comm_(comm), width_(width), packed_(nullptr, free_of_fab) {
  lay_out();
  const std::size_t bytes = std::max<std::size_t>(1, sent_bytes());
  if (transport == Transport::fab) {
    packed_.reset(static_cast<double*>(fab_alloc(bytes)));
    if (!packed_) throw std::bad_alloc();
  } else {
    double* memory = nullptr;
    check_mpi(MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, static_cast<void*>(&memory)), "MPI_Alloc_mem");
    packed_ = Memory(memory, free_of_mpi);
  }
}

Halo::~Halo() {
  for (auto& [x, request] : persistent_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

void Halo::lay_out() {
  const auto width = static_cast<int>(width_);
  int sent = 0;
  int received = 0;
  for (const Domain::Neighbor& neighbor : domain_.neighbors) {
    send_counts_.push_back(width * static_cast<int>(neighbor.send_slots.size()));
    send_displacements_.push_back(sent);
    receive_counts_.push_back(width * neighbor.ghost_count);
    receive_displacements_.push_back(received);
    sent += send_counts_.back();
    received += receive_counts_.back();
  }
  packed_count_ = static_cast<std::size_t>(sent);
}

MPI_Request Halo::persistent_exchange(double* ghosts) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Neighbor_xchgv_init(packed_.get(), send_counts_.data(), send_displacements_.data(), MPI_DOUBLE, ghosts,
                                    receive_counts_.data(), receive_displacements_.data(), MPI_DOUBLE, comm_,
                                    MPI_INFO_NULL, &request),
            "MPI_Neighbor_xchgv_init");
  return request;
}

void Halo::attach(double* x) {
  if (transport_ == Transport::fab) {
    persistent_.emplace_back(x, persistent_exchange(x + domain_.owned_count() * width_));
  }
  for (int i = 0; i < kFirstExchanges; ++i) {
    start(x);
    wait();
  }
  seconds_.clear();
}

void Halo::start(double* x) {
  double* packed = packed_.get();
  for (const Domain::Neighbor& neighbor : domain_.neighbors) {
    for (std::int32_t slot : neighbor.send_slots) {
      packed = std::copy_n(x + static_cast<std::size_t>(slot) * width_, width_, packed);
    }
  }
  const double begin = MPI_Wtime();
  if (transport_ == Transport::fab) {
    const auto made = std::find_if(persistent_.begin(), persistent_.end(), [x](auto& one) { return one.first == x; });
    if (made == persistent_.end()) throw std::logic_error("exchange of a vector that is not attached");
    request_ = made->second;
    check_mpi(MPI_Start(&request_), "MPI_Start");
  } else {
    check_mpi(MPI_Ineighbor_alltoallv(packed_.get(), send_counts_.data(), send_displacements_.data(), MPI_DOUBLE,
                                      x + domain_.owned_count() * width_, receive_counts_.data(),
                                      receive_displacements_.data(), MPI_DOUBLE, comm_, &request_),
              "MPI_Ineighbor_alltoallv");
  }
  start_seconds_ = MPI_Wtime() - begin;
}

void Halo::wait() {
  const double begin = MPI_Wtime();
  // start() made the request, out of the analyzer's sight.
  check_mpi(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker)
  seconds_.push_back(start_seconds_ + MPI_Wtime() - begin);
}

}  // namespace realspace
