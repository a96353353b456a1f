// What carries the ghost values: the MPI library's own neighbour collective, and fab in the program that has it.
#ifndef BENCH_APPS_REALSPACE_TRANSPORT_H
#define BENCH_APPS_REALSPACE_TRANSPORT_H

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace realspace {

// What a rank sends to the neighbors of a graph communicator, in their order, and gets from them: counts and
// displacements in doubles.
struct Blocks {
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> send_counts, send_displacements;
  std::vector<int> receive_counts, receive_displacements;
  std::size_t sent_bytes = 0;  // by this rank
};

// Sends one buffer, which it owns, and receives into vectors of the caller. One exchange at a time.
class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // What an exchange sends.
  double* send_buffer() const { return send_buffer_.get(); }

  // Collective. Makes what exchanges into `ghosts` need.
  virtual void attach(double* ghosts) = 0;

  // Starts an exchange into `ghosts`, which are attached. MPI_Wait completes the request.
  virtual MPI_Request start(double* ghosts) = 0;

 protected:
  using Memory = std::unique_ptr<double, void (*)(double*)>;

  // `blocks` must outlive the exchange; the buffer has their size.
  Exchange(const Blocks& blocks, Memory send_buffer) : blocks_(blocks), send_buffer_(std::move(send_buffer)) {}

  const Blocks& blocks_;

 private:
  Memory send_buffer_;
};

struct Transport {
  const char* name;
  const char* description;
  std::unique_ptr<Exchange> (*make)(const Blocks& blocks);
};

// Those that this program can choose from, the default first. realspace has them in fab_exchange.cpp, realspace_mpi in
// without_fab.cpp.
std::span<const Transport> transports();

// "mpi", in every program.
Transport mpi_transport();

}  // namespace realspace

#endif
