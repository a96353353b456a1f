// All of realspace that knows of fab; realspace_mpi has without_fab.cpp in its place.
#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fab/mpi.h"
#include "mpi_call.h"
#include "realspace/transport.h"

namespace realspace {

using apps::check_mpi;

namespace {

// A persistent exchange for each vector, from memory that fab gave.
class FabExchange final : public Exchange {
 public:
  explicit FabExchange(const Blocks& blocks) : Exchange(blocks, allocated(blocks)) {}

  ~FabExchange() override {
    for (auto& [ghosts, request] : persistent_) {
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }
  }

  void attach(double* ghosts) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(
        MPI_Neighbor_xchgv_init(send_buffer(), blocks_.send_counts.data(), blocks_.send_displacements.data(),
                                MPI_DOUBLE, ghosts, blocks_.receive_counts.data(), blocks_.receive_displacements.data(),
                                MPI_DOUBLE, blocks_.comm, MPI_INFO_NULL, &request),
        "MPI_Neighbor_xchgv_init");
    persistent_.emplace_back(ghosts, request);
  }

  MPI_Request start(double* ghosts) override {
    const auto made =
        std::find_if(persistent_.begin(), persistent_.end(), [ghosts](auto& one) { return one.first == ghosts; });
    if (made == persistent_.end()) throw std::logic_error("exchange of a vector that is not attached");
    check_mpi(MPI_Start(&made->second), "MPI_Start");
    return made->second;
  }

 private:
  static Memory allocated(const Blocks& blocks) {
    Memory memory(static_cast<double*>(fab_alloc(std::max<std::size_t>(1, blocks.sent_bytes))),
                  [](double* given) { fab_free(given); });
    if (!memory) throw std::bad_alloc();
    return memory;
  }

  std::vector<std::pair<const double*, MPI_Request>> persistent_;  // of each vector attached
};

}  // namespace

std::span<const Transport> transports() {
  static const std::array known = {Transport{"fab", "fab's persistent exchange (MPI_Neighbor_xchgv_init)",
                                             [](const Blocks& blocks) -> std::unique_ptr<Exchange> {
                                               return std::make_unique<FabExchange>(blocks);
                                             }},
                                   mpi_transport()};
  return known;
}

}  // namespace realspace
