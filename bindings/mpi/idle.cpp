#include "bindings/mpi/idle.h"

#include <mpi.h>

#include <chrono>

#include "bindings/mpi/naming.h"
#include "bindings/mpi/process.h"

namespace fab::mpi {

namespace {

using Clock = std::chrono::steady_clock;

/// Longer than a fast exchange takes, so that those never pay for it, also where ranks take turns on a processor:
/// there a turn of MPI's gives the processor away.
constexpr auto kBetweenTurns = std::chrono::microseconds(100);

thread_local bool waiting_began = false;
thread_local Clock::time_point next_turn;

void idle() {
  advance_naming();
  const Clock::time_point now = Clock::now();
  if (waiting_began) {
    waiting_began = false;
    next_turn = now + kBetweenTurns;
    return;
  }
  if (now < next_turn) return;
  progress_mpi();
  next_turn = Clock::now() + kBetweenTurns;
}

}  // namespace

void progress_mpi() noexcept {
  int flag = 0;
  // Nobody sends on this communicator: only the progress inside the call matters.
  static_cast<void>(
      PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, Process::instance().private_comm(), &flag, MPI_STATUS_IGNORE));
}

void progress_once() {
  advance_naming();
  Process::instance().engine().poll_once();
  if (Clock::now() < next_turn) return;
  progress_mpi();
  next_turn = Clock::now() + kBetweenTurns;
}

core::IdleHook next_idle_hook() noexcept {
  waiting_began = true;
  return idle;
}

}  // namespace fab::mpi
