// Exchanges with neighbours, by fab and by the MPI library, on the same communicator and the same buffers.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

enum class Pattern {
  ring,  ///< periodic Cartesian, one dimension: two neighbours; with two ranks two blocks for one peer
  pair,  ///< distributed graph: ranks 2k and 2k + 1 are each other's only neighbour
};
[[nodiscard]] const char* name_of(Pattern pattern);

/// Whose order of blocks: on a Cartesian communicator MPI lists each dimension's negative direction first, fab the
/// positive one.
enum class Order { fab, mpi };

class Neighbors {
 public:
  /// Of all ranks; collective. Throws std::runtime_error when the pattern needs another number of ranks.
  explicit Neighbors(Pattern pattern);
  ~Neighbors();
  Neighbors(const Neighbors&) = delete;
  Neighbors& operator=(const Neighbors&) = delete;

  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int count() const { return pattern_ == Pattern::ring ? 2 : 1; }
  /// The neighbour with whom this rank exchanges block `block`.
  [[nodiscard]] int neighbor(int block, Order order) const;

 private:
  Pattern pattern_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 0;
};

/// The buffers for one size, page-aligned, and the calls on them.
class Exchange {
 public:
  Exchange(const Neighbors& neighbors, std::size_t bytes_per_neighbor);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void fab();                             ///< MPI_Neighbor_xchg
  void mpi();                             ///< MPI_Neighbor_alltoall
  [[nodiscard]] MPI_Request start_fab();  ///< MPI_Ineighbor_xchg
  [[nodiscard]] MPI_Request start_mpi();  ///< MPI_Ineighbor_alltoall

  [[nodiscard]] const void* send() const { return send_; }
  [[nodiscard]] void* receive() { return receive_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Fills the send blocks with what only this rank and block have, and spoils the receive blocks.
  void fill();
  /// Throws std::runtime_error unless every receive block holds what its neighbour filled in for this rank.
  void check(Order order, const char* what) const;

 private:
  const Neighbors& neighbors_;
  std::size_t bytes_;
  int count_;  ///< of bytes, as MPI wants it
  std::byte* send_;
  std::byte* receive_;
};

/// Waits as MPI_Wait does, with its return code looked at.
void wait(MPI_Request request);

}  // namespace bench
