// The context: opens and closes fab in a process.
#pragma once

#include <memory>
#include <string>

#include "fab/api.h"
#include "fab/communicator.h"
#include "fab/statistics.h"

namespace fab {

namespace core {
class Context;
}

/// How a context is opened.
struct ContextOptions {
  int engines = 1;  ///< 1 to 64, the same on all ranks
};

/// One rank's runtime. It needs no MPI: under mpirun, prterun or srun --mpi=pmix it finds its job through PMIx; without
/// a launcher it is a job of one rank. The FAB_* variables configure it (fab_info lists them).
class FAB_API Context {
 public:
  /// Opens fab. Not collective: it talks to no other rank. Throws Error(configuration, bootstrap, unreachable or
  /// transport).
  static Context open();
  /// With several engines, so that threads of the program need not wait for each other. Each engine has its own lock,
  /// progress thread, connections and buffers, and carries the communicators that are made from its world(). Opening
  /// and memory take as much again for each. open() opens as many engines as FAB_ENGINES says: 1 by default. Throws
  /// Error(invalid_argument), and what open() throws. Two ranks with different numbers get Error(mismatch) when they
  /// first meet.
  static Context open(const ContextOptions& options);

  Context(Context&&) noexcept = default;  ///< the other object may only be destroyed afterwards
  Context& operator=(Context&&) noexcept = delete;
  /// Calls close() unless it was called. During stack unwinding it does not wait for other ranks.
  ~Context();

  /// This process's rank in the job.
  [[nodiscard]] Rank rank() const noexcept;
  /// The number of ranks of the job.
  [[nodiscard]] int size() const noexcept;
  /// The communicator of all ranks of the job, without a topology.
  [[nodiscard]] const Communicator& world() const noexcept { return world_[0]; }
  /// The number of engines.
  [[nodiscard]] int engines() const noexcept;
  /// The communicator of all ranks of the job on that engine: world() for 0. Communicators that are made from it belong
  /// to the same engine. Threads that each use another engine do not wait for each other. Throws
  /// Error(invalid_argument).
  [[nodiscard]] const Communicator& world(int engine) const;
  /// Provider, interface and address as text for people.
  [[nodiscard]] const std::string& transport() const noexcept;

  /// A descriptor for event loops (poll, epoll), owned by the context. It becomes readable when an operation of this
  /// context has ended, or needs a wait or test to go on. Then read its 8 bytes, or call clear_events, and test the
  /// operations in flight. The first call makes the descriptor, readable, as an operation may have ended before. Throws
  /// Error(configuration) if FAB_PROGRESS=caller leaves out the thread that would notice, Error(no_resources), and
  /// Error(cancelled) in a child of fork().
  [[nodiscard]] int event_fd() const;
  /// Makes the descriptor unreadable until another operation ends.
  void clear_events() const noexcept;

  /// Tells calls, messages and waits of this rank since the context was opened. Takes time and memory that grow with
  /// its plans and peers. Empty in a child of fork().
  [[nodiscard]] Statistics statistics() const;
  /// As statistics(), and by which ways the messages of each operation left.
  [[nodiscard]] StatisticsByWay statistics_by_way() const;

  /// Completes the operations in flight, and waits at most ten seconds for each other rank to call close. Collective
  /// over the job. Afterwards nothing can be started. With FAB_STATS rank 0 then writes the statistics of all ranks.
  void close();

 private:
  explicit Context(std::shared_ptr<core::Context> core);

  std::shared_ptr<core::Context> core_;
  std::unique_ptr<Communicator[]> world_;  ///< of each engine
};

}  // namespace fab
