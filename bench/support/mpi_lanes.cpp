#include <fmt/core.h>
#include <mpi.h>

#include <exception>

#include "apps/mpi_call.h"
#include "support/lane.h"

namespace bench {
namespace {

using apps::check_mpi;

int bytes_in(std::span<const std::byte> data) { return static_cast<int>(data.size()); }

class MpiLane final : public Lane {
 public:
  MpiLane() { check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup"); }
  // An exception on its way ends the job.
  ~MpiLane() override {
    if (std::uncaught_exceptions() > 0) return;
    if (MPI_Comm_free(&comm_) != MPI_SUCCESS) fmt::print(stderr, "MPI_Comm_free failed\n");
  }

  void send(int peer, int tag, std::span<const std::byte> data) override {
    check_mpi(MPI_Send(data.data(), bytes_in(data), MPI_BYTE, peer, tag, comm_), "MPI_Send");
  }
  void receive(int peer, int tag, std::span<std::byte> data) override {
    check_mpi(MPI_Recv(data.data(), bytes_in(data), MPI_BYTE, peer, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
  }
  void start_send(int peer, int tag, std::span<const std::byte> data) override {
    check_mpi(MPI_Isend(data.data(), bytes_in(data), MPI_BYTE, peer, tag, comm_, &requests_.emplace_back()),
              "MPI_Isend");
  }
  void start_receive(int peer, int tag, std::span<std::byte> data) override {
    check_mpi(MPI_Irecv(data.data(), bytes_in(data), MPI_BYTE, peer, tag, comm_, &requests_.emplace_back()),
              "MPI_Irecv");
  }
  // The PMPI_ function is what programs call that do not use fab: its binding stands in for the other.
  void complete() override {
    check_mpi(PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    requests_.clear();
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<MPI_Request> requests_;
};

}  // namespace

Lanes mpi_lanes(int threads) {
  Lanes lanes{.library = "MPI", .blocking = "MPI_Send, MPI_Recv", .nonblocking = "MPI_Irecv, MPI_Isend, MPI_Waitall"};
  for (int thread = 0; thread < threads; ++thread) lanes.of_thread.push_back(std::make_unique<MpiLane>());
  return lanes;
}

}  // namespace bench
