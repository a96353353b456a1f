// One collective call of one size: its buffers, with data that can be checked.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "support/memory.h"

namespace bench {

enum class Collective {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce_scatter_block,
  scan
};
[[nodiscard]] const char* name_of(Collective collective);
[[nodiscard]] const std::vector<Collective>& all_collectives();

/// In turns: no call can be over before the one before it has arrived everywhere, so the mean of many in a row is the
/// time of one. First: rank 0, always.
enum class Roots { in_turns, first };

/// Doubles, added up where they are combined. Sizes are those of the vector, or, where ranks have blocks of their own,
/// of the block of one rank, as MPI counts them.
class CollectiveCase {
 public:
  /// Collective over all ranks. Throws std::runtime_error for bytes that hold no whole number of doubles.
  CollectiveCase(Collective collective, std::size_t bytes, MemoryKind memory, Roots roots);

  [[nodiscard]] Collective collective() const { return collective_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] int count() const { return static_cast<int>(bytes_ / sizeof(double)); }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] const std::byte* send() const { return send_.get(); }
  /// A bcast's buffer, too.
  [[nodiscard]] std::byte* receive() { return receive_.get(); }

  /// The root of the next call. All ranks call this as often.
  int take_root() {
    const int root = next_root_;
    if (++next_root_ >= roots_) next_root_ = 0;
    return root;
  }

  /// As many checked calls as there are roots; `call` makes one, which takes its root. Collective. Throws
  /// std::runtime_error, naming `what`, when a rank does not have what the collective shall give it. Barriers are
  /// checked where all ranks are on one node: one rank comes late.
  void try_out(const std::function<void()>& call, const std::string& what);

 private:
  using Time = std::chrono::steady_clock::time_point;

  void fill();
  void check(int root, const std::string& what);
  void check_barrier(Time entered, Time left, const std::string& what) const;
  [[nodiscard]] bool receives(int root) const;
  [[nodiscard]] double expected(int root, std::size_t place) const;
  [[nodiscard]] std::size_t sent_blocks() const;
  [[nodiscard]] std::size_t received_blocks() const;

  Collective collective_;
  std::size_t bytes_;
  int rank_ = 0;
  int ranks_ = 1;
  int roots_ = 1;
  bool shares_clock_ = false;
  int next_root_ = 0;
  Memory send_;
  Memory receive_;
};

}  // namespace bench
