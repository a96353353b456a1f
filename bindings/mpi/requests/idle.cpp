#include "bindings/mpi/requests/idle.h"

#include <mpi.h>

#include <chrono>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/private_comm.h"
#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/bootstrap/meeting.h"
#include "bindings/mpi/communicators/naming.h"
#include "bindings/mpi/interception/next.h"

namespace fab::mpi {

namespace {

using Clock = std::chrono::steady_clock;

/// Longer than a fast exchange takes, so that those never pay for it, also where ranks take turns on a processor:
/// there a turn of MPI's gives the processor away.
constexpr auto kBetweenTurns = std::chrono::microseconds(100);

#if defined(MPICH_VERSION)
MPI_Request never_received = MPI_REQUEST_NULL;
#endif

[[gnu::tls_model("initial-exec")]] constinit thread_local bool waiting_began = false;
[[gnu::tls_model("initial-exec")]] constinit thread_local Clock::time_point next_turn;

void take_turn_of_mpi() {
  drive_meeting();
  progress_mpi();
  next_turn = Clock::now() + kBetweenTurns;
}

void idle() {
  advance_naming();
  if (meeting_is_urgent()) drive_meeting();
  const Clock::time_point now = Clock::now();
  if (waiting_began) {
    waiting_began = false;
    next_turn = now + kBetweenTurns;
    return;
  }
  if (now >= next_turn) take_turn_of_mpi();
}

}  // namespace

// No rank sends on the private communicator: only the progress inside the calls matters. Where a communicator has one
// process MPICH probes without any (4.0.2), but it looks after a receive there as after any other.
#if defined(MPICH_VERSION)
void open_idle() {
  require(PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, 0, private_comm(), &never_received), "MPI_Irecv");
}

void close_idle() noexcept {
  if (next_pmpi.cancel(&never_received) != MPI_SUCCESS ||
      next_pmpi.wait(&never_received, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    log_error("MPI_Finalize", "cannot cancel a receive");
}

void progress_mpi() noexcept {
  int flag = 0;
  static_cast<void>(next_pmpi.get_status(never_received, &flag, MPI_STATUS_IGNORE));
}
#else
void open_idle() {}

void close_idle() noexcept {}

void progress_mpi() noexcept {
  int flag = 0;
  static_cast<void>(PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, private_comm(), &flag, MPI_STATUS_IGNORE));
}
#endif

void hand_over_progress(core::Engine& engine) {
  engine.hand_over_progress();
  if (meeting_is_urgent()) drive_meeting();
}

void progress_once(core::Engine& engine) {
  advance_naming();
  if (meeting_is_urgent()) drive_meeting();
  static_cast<void>(engine.thread_call().resume_polling());
  engine.poll_once();
  if (Clock::now() >= next_turn) take_turn_of_mpi();
}

void progress_once() {
  for (const std::shared_ptr<core::Runtime>& each : process_context().further_engines()) {
    if (each->engine().active() == 0) continue;
    static_cast<void>(each->engine().thread_call().resume_polling());
    each->engine().poll_once();
  }
  progress_once(process_engine());
}

core::IdleHook next_idle_hook() noexcept {
  waiting_began = true;
  return idle;
}

}  // namespace fab::mpi
