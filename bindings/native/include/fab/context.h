// Opening and closing fab in a process.
#pragma once

#include <memory>
#include <string>

#include "fab/communicator.h"

namespace fab {

namespace core {
class Context;
}

/// One rank's runtime. Needs no MPI: under mpirun, prterun or srun --mpi=pmix it finds its job through PMIx; without a
/// launcher it is a job of one. Configured by the FAB_* variables (fab_info lists them).
class Context {
 public:
  /// Not collective: talks to no other rank. Throws Error(configuration, bootstrap, unreachable or transport).
  static Context open();

  Context(Context&&) noexcept = default;
  Context& operator=(Context&&) noexcept = delete;
  /// close(), if it was not called; without meeting the other ranks when an exception is on its way.
  ~Context();

  [[nodiscard]] Rank rank() const noexcept;
  [[nodiscard]] int size() const noexcept;
  /// All ranks of the job, without a topology.
  [[nodiscard]] const Communicator& world() const noexcept { return *world_; }
  /// Provider, interface and address, for people.
  [[nodiscard]] const std::string& transport() const noexcept;

  /// A descriptor for event loops (poll, epoll). It becomes readable when something that was started in this context
  /// has ended, or needs a call of a wait or test to go on. Read its 8 bytes, or call clear_events, and then test what
  /// is in flight. It is the context's. The first call makes it, readable: something may have ended before. Throws
  /// Error(configuration) where FAB_PROGRESS=caller leaves out the thread that would notice, Error(no_resources),
  /// Error(cancelled) in a child of fork().
  [[nodiscard]] int event_fd() const;
  /// Makes it unreadable until something else ends.
  void clear_events() const noexcept;

  /// Finishes what is in flight and waits until all ranks of the job have come here, ten seconds at most for each:
  /// collective over the job. Afterwards nothing can be started.
  void close();

 private:
  explicit Context(std::shared_ptr<core::Context> core);

  std::shared_ptr<core::Context> core_;
  std::unique_ptr<Communicator> world_;
};

}  // namespace fab
