// One collective call of one size: its buffers, with data that can be checked.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/batches.h"
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
  /// Of a thread, whose data differ from those of others.
  CollectiveCase(Collective collective, std::size_t bytes, MemoryKind memory, Roots roots, int thread = 0);

  [[nodiscard]] int thread() const { return thread_; }
  [[nodiscard]] Collective collective() const { return collective_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] int count() const { return static_cast<int>(bytes_ / sizeof(double)); }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] const std::byte* send() const { return send_.get(); }
  /// A bcast's buffer, too.
  [[nodiscard]] std::byte* receive() { return receive_.get(); }

  /// So many calls in a row have each root once.
  [[nodiscard]] int roots() const { return roots_; }
  /// The root of the next call. All ranks call this as often.
  int take_root() {
    const int root = next_root_;
    if (++next_root_ >= roots_) next_root_ = 0;
    return root;
  }

  /// The thread's calls, whose end is noted: try_out() then knows it of each thread.
  [[nodiscard]] Calls noting_the_end(Calls calls);
  /// As many checked calls as there are roots, of all threads of the rank; `call` makes one of each, which takes its
  /// root. Collective. Throws std::runtime_error, naming `what`, when a rank does not have what the collective shall
  /// give it. Barriers are checked where all ranks are on one node: one rank comes late.
  static void try_out(std::deque<CollectiveCase>& of_threads, const std::function<void()>& call,
                      const std::string& what);

 private:
  using Time = std::chrono::steady_clock::time_point;

  void fill();
  void check(int root, const std::string& what);
  static void check_barrier(Time entered, Time left, const std::string& what);
  [[nodiscard]] bool receives(int root) const;
  [[nodiscard]] double expected(int root, std::size_t place) const;
  [[nodiscard]] double value_at(int rank, std::size_t place) const;
  [[nodiscard]] double sum(int ranks, std::size_t place) const;
  [[nodiscard]] std::size_t sent_blocks() const;
  [[nodiscard]] std::size_t received_blocks() const;

  Collective collective_;
  std::size_t bytes_;
  int thread_;
  int rank_ = 0;
  int ranks_ = 1;
  int roots_ = 1;
  bool shares_clock_ = false;
  int next_root_ = 0;
  std::optional<Time> ended_;  ///< the latest calls
  Memory send_;
  Memory receive_;
};

}  // namespace bench
