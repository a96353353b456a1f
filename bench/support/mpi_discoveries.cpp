#include "support/mpi_discoveries.h"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "apps/mpi_call.h"

namespace bench {
namespace {

using apps::check_mpi;

// The PMPI_ functions are what programs call that do not use fab: its binding stands in for some of the others.

class DiscoveryComm {
 public:
  DiscoveryComm() {
    check_mpi(PMPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    check_mpi(PMPI_Comm_size(comm_, &ranks_), "MPI_Comm_size");
  }
  // An exception on its way ends the job.
  ~DiscoveryComm() {
    if (std::uncaught_exceptions() > 0) return;
    if (PMPI_Comm_free(&comm_) != MPI_SUCCESS) fmt::print(stderr, "MPI_Comm_free failed\n");
  }
  DiscoveryComm(const DiscoveryComm&) = delete;
  DiscoveryComm& operator=(const DiscoveryComm&) = delete;

  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  // Messages of one discovery must not be taken by the one before it.
  [[nodiscard]] int next_tag() noexcept { return tag_ = 1 - tag_; }

  void start_sends(const DiscoveryInput& input, int tag, bool synchronous) {
    requests_.clear();
    const int bytes = static_cast<int>(input.bytes);
    for (std::size_t i = 0; i < input.destinations.size(); ++i) {
      const std::byte* const block = input.blocks.data() + i * input.bytes;
      const auto send = synchronous ? PMPI_Issend : PMPI_Isend;
      check_mpi(send(block, bytes, MPI_BYTE, input.destinations[i], tag, comm_, &requests_.emplace_back()),
                synchronous ? "MPI_Issend" : "MPI_Isend");
    }
  }
  [[nodiscard]] bool sent() {
    int all = 0;
    check_mpi(PMPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    return all != 0;
  }
  void complete_sends() {
    check_mpi(PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }
  void receive(DiscoveryOutput& found, std::size_t bytes, int source, int tag) {
    const std::size_t end = found.blocks.size();
    found.blocks.resize(end + bytes);
    MPI_Status status;
    check_mpi(PMPI_Recv(found.blocks.data() + end, static_cast<int>(bytes), MPI_BYTE, source, tag, comm_, &status),
              "MPI_Recv");
    found.sources.push_back(status.MPI_SOURCE);
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int ranks_ = 0;
  int tag_ = 0;
  std::vector<MPI_Request> requests_;
};

// A flag and a block from each rank to each.
DiscoveryOutput by_alltoall(const DiscoveryComm& comm, const DiscoveryInput& input) {
  const std::size_t record = input.bytes + 1;
  const auto ranks = static_cast<std::size_t>(comm.ranks());
  std::vector<std::byte> out(ranks * record);
  std::vector<std::byte> in(ranks * record);
  for (std::size_t i = 0; i < input.destinations.size(); ++i) {
    std::byte* const at = out.data() + static_cast<std::size_t>(input.destinations[i]) * record;
    *at = std::byte{1};
    std::copy_n(input.blocks.data() + i * input.bytes, input.bytes, at + 1);
  }
  check_mpi(PMPI_Alltoall(out.data(), static_cast<int>(record), MPI_BYTE, in.data(), static_cast<int>(record), MPI_BYTE,
                          comm.get()),
            "MPI_Alltoall");
  DiscoveryOutput found;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::byte* const at = in.data() + rank * record;
    if (*at == std::byte{0}) continue;
    found.sources.push_back(static_cast<int>(rank));
    found.blocks.insert(found.blocks.end(), at + 1, at + record);
  }
  return found;
}

// The number of messages by a sum, then the messages (PCX).
DiscoveryOutput by_census(DiscoveryComm& comm, const DiscoveryInput& input) {
  std::vector<int> flags(static_cast<std::size_t>(comm.ranks()));
  for (const int to : input.destinations) flags[static_cast<std::size_t>(to)] = 1;
  int expected = 0;
  check_mpi(PMPI_Reduce_scatter_block(flags.data(), &expected, 1, MPI_INT, MPI_SUM, comm.get()),
            "MPI_Reduce_scatter_block");
  const int tag = comm.next_tag();
  comm.start_sends(input, tag, false);
  DiscoveryOutput found;
  for (int i = 0; i < expected; ++i) comm.receive(found, input.bytes, MPI_ANY_SOURCE, tag);
  comm.complete_sends();
  return found;
}

// Synchronous messages, then a barrier (NBX).
DiscoveryOutput by_consensus(DiscoveryComm& comm, const DiscoveryInput& input) {
  const int tag = comm.next_tag();
  comm.start_sends(input, tag, true);
  DiscoveryOutput found;
  MPI_Request barrier = MPI_REQUEST_NULL;
  for (int done = 0; done == 0;) {
    int waiting = 0;
    MPI_Status status;
    check_mpi(PMPI_Iprobe(MPI_ANY_SOURCE, tag, comm.get(), &waiting, &status), "MPI_Iprobe");
    if (waiting != 0) comm.receive(found, input.bytes, status.MPI_SOURCE, tag);
    if (barrier != MPI_REQUEST_NULL)
      check_mpi(PMPI_Test(&barrier, &done, MPI_STATUS_IGNORE), "MPI_Test");
    else if (comm.sent())
      check_mpi(PMPI_Ibarrier(comm.get(), &barrier), "MPI_Ibarrier");
  }
  return found;
}

}  // namespace

std::vector<DiscoveryWay> mpi_discoveries() {
  const auto way = [](const char* name, const char* call, auto* discover) {
    return DiscoveryWay{name, call, [discover, comm = std::make_shared<DiscoveryComm>()](const DiscoveryInput& input) {
                          return discover(*comm, input);
                        }};
  };
  return {way("MPI alltoall", "MPI_Alltoall of flags and blocks", by_alltoall),
          way("MPI census", "MPI_Reduce_scatter_block, MPI_Isend, MPI_Recv", by_census),
          way("MPI nbx", "MPI_Issend, MPI_Ibarrier, MPI_Iprobe, MPI_Recv", by_consensus)};
}

}  // namespace bench
