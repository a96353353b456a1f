#include <mpi.h>

#include "apps/mpi_call.h"
#include "support/lane.h"
#include "support/own_comm.h"

namespace bench {
namespace {

using apps::check_mpi;

int bytes_in(std::span<const std::byte> data) { return static_cast<int>(data.size()); }

class MpiLane final : public Lane {
 public:
  void send(int peer, int tag, std::span<const std::byte> data) override {
    check_mpi(MPI_Send(data.data(), bytes_in(data), MPI_BYTE, peer, tag, comm_.get()), "MPI_Send");
  }
  void receive(int peer, int tag, std::span<std::byte> data) override {
    check_mpi(MPI_Recv(data.data(), bytes_in(data), MPI_BYTE, peer, tag, comm_.get(), MPI_STATUS_IGNORE), "MPI_Recv");
  }
  void start_send(int peer, int tag, std::span<const std::byte> data) override {
    check_mpi(MPI_Isend(data.data(), bytes_in(data), MPI_BYTE, peer, tag, comm_.get(), &requests_.emplace_back()),
              "MPI_Isend");
  }
  void start_receive(int peer, int tag, std::span<std::byte> data) override {
    check_mpi(MPI_Irecv(data.data(), bytes_in(data), MPI_BYTE, peer, tag, comm_.get(), &requests_.emplace_back()),
              "MPI_Irecv");
  }
  // The PMPI_ function is what programs call that do not use fab: its binding stands in for the other.
  void complete() override {
    check_mpi(PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests_.clear();
  }

 private:
  OwnComm comm_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

Lanes mpi_lanes(int threads) {
  Lanes lanes{.library = "MPI", .blocking = "MPI_Send, MPI_Recv", .nonblocking = "MPI_Irecv, MPI_Isend, MPI_Waitall"};
  for (int thread = 0; thread < threads; ++thread) lanes.of_thread.push_back(std::make_unique<MpiLane>());
  return lanes;
}

}  // namespace bench
