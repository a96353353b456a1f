#include <algorithm>
#include <memory>

#include "mpi_call.h"
#include "realspace/transport.h"

namespace realspace {

using apps::check_mpi;

namespace {

// A call for each exchange, from memory that the MPI library gave.
class MpiExchange final : public Exchange {
 public:
  explicit MpiExchange(const Blocks& blocks) : Exchange(blocks, allocated(blocks)) {}

  void attach(double*) override {}

  MPI_Request start(double* ghosts) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ineighbor_alltoallv(send_buffer(), blocks_.send_counts.data(), blocks_.send_displacements.data(),
                                      MPI_DOUBLE, ghosts, blocks_.receive_counts.data(),
                                      blocks_.receive_displacements.data(), MPI_DOUBLE, blocks_.comm, &request),
              "MPI_Ineighbor_alltoallv");
    return request;
  }

 private:
  static Memory allocated(const Blocks& blocks) {
    double* memory = nullptr;
    const auto bytes = static_cast<MPI_Aint>(std::max<std::size_t>(1, blocks.sent_bytes));
    check_mpi(MPI_Alloc_mem(bytes, MPI_INFO_NULL, static_cast<void*>(&memory)), "MPI_Alloc_mem");
    return {memory, [](double* given) { MPI_Free_mem(given); }};
  }
};

}  // namespace

Transport mpi_transport() {
  return {"mpi", "MPI's MPI_Ineighbor_alltoallv",
          [](const Blocks& blocks) -> std::unique_ptr<Exchange> { return std::make_unique<MpiExchange>(blocks); }};
}

}  // namespace realspace
