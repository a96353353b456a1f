// The buffers of an exchange of one size, with data that can be checked.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "support/box.h"
#include "support/memory.h"
#include "support/neighbors.h"

namespace bench {

/// Where received blocks must lie.
enum class Placement {
  exact,
  either,  ///< in their own block or in that of the other direction of the same dimension and neighbour
  whole,   ///< the one neighbour's send buffer as it is
};

/// How a program writes anew what it sends.
enum class Rewrite {
  none,
  fill,    ///< without a look at what is there: memset
  update,  ///< each number from its old value
};
[[nodiscard]] constexpr const char* name_of(Rewrite how) {
  return how == Rewrite::none ? "none" : how == Rewrite::fill ? "fill" : "update";
}

class Exchange {
 public:
  /// Of a thread, whose data differ from those of others.
  Exchange(const Neighbors& neighbors, std::size_t bytes_per_neighbor, MemoryKind memory, int thread = 0);

  [[nodiscard]] int thread() const { return thread_; }
  [[nodiscard]] const Neighbors& neighbors() const { return neighbors_; }
  [[nodiscard]] const Boxes& boxes() const { return boxes_; }
  [[nodiscard]] const std::byte* send() const { return send_.get(); }
  /// Where blocks are sent out of, and received into, one array: the array.
  [[nodiscard]] std::span<std::byte> array() { return {send_.get(), boxes_.array_bytes()}; }
  [[nodiscard]] std::byte* receive() { return boxes_.in_one_array() ? send_.get() : receive_.get(); }

  /// Fills what is sent with what only this rank and place have, and spoils what is received.
  void fill();
  /// Writes all that is sent anew, with other values than the last time.
  void rewrite(Rewrite how);
  /// Returns whether every block lies in its own place. Throws std::runtime_error, naming `what`, when a block does not
  /// hold what its neighbour filled in for this rank, or lies where `placement` does not allow.
  bool check(Order order, Placement placement, const std::string& what);

 private:
  /// The neighbours in both directions of the block's dimension are one rank.
  [[nodiscard]] bool same_both_ways(int block, Order order) const;
  [[nodiscard]] bool holds(int block, int sent_block, Order order);
  /// That the thread of a rank sends from there.
  [[nodiscard]] std::byte byte_of(int rank, std::size_t place) const;

  const Neighbors& neighbors_;
  int thread_;
  Boxes boxes_;
  Memory send_;
  Memory receive_;
  int times_filled_ = 0;
};

}  // namespace bench
