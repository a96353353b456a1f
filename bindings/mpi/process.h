// What MPI makes process-wide: the one context of this binding, and when it opens and closes.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "core/context.h"

namespace fab::mpi {

/// Opened by the first call that needs the transport, closed by MPI_Finalize. Safe from any thread.
class Process {
 public:
  /// Never destroyed: MPI may call back until the process ends.
  static Process& instance() noexcept;

  /// Throws Failure(MPI_ERR_OTHER) outside MPI_Init and MPI_Finalize, and (the same each time) where opening failed.
  void open() {
    if (!is_open()) open_now();
  }
  [[nodiscard]] bool is_open() const noexcept { return state_.load(std::memory_order_acquire) == State::open; }

  // The rest needs is_open().
  [[nodiscard]] const std::shared_ptr<core::Context>& context() const noexcept { return context_; }
  [[nodiscard]] core::Engine& engine() const noexcept { return context_->engine(); }
  [[nodiscard]] MPI_Group world_group() const noexcept { return world_group_; }
  /// A duplicate of MPI_COMM_SELF that returns errors and on which nobody communicates.
  [[nodiscard]] MPI_Comm private_comm() const noexcept { return private_comm_; }

  /// Some exchange failed: closing does not wait for ever for peers that may not come.
  void note_failure() noexcept { failed_.store(true, std::memory_order_relaxed); }

 private:
  enum class State { unopened, open, failed, closed };

  Process() = default;
  void open_now();
  void open_mpi_side();
  void close();
  void close_mpi_side() noexcept;
  static int closing(MPI_Comm, int, void*, void*) noexcept;

  std::mutex mutex_;
  std::atomic<State> state_{State::unopened};
  std::string failure_;  ///< why opening failed
  std::shared_ptr<core::Context> context_;
  MPI_Group world_group_ = MPI_GROUP_NULL;
  MPI_Comm private_comm_ = MPI_COMM_NULL;
  std::atomic<bool> failed_{false};
};

}  // namespace fab::mpi
