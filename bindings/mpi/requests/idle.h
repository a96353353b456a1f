// Lets MPI make progress while a thread waits for fab.
#pragma once

#include "core/progress/driver.h"

namespace fab::mpi {

/// Once, when fab has its private communicator. Throws Failure.
void open_idle();
/// Before that ends.
void close_idle() noexcept;

/// Gives MPI's own progress a turn.
void progress_mpi() noexcept;

/// A call that has started something returns: the progress thread takes over, and peers are asked for their addresses.
void hand_over_progress(core::Engine& engine);

/// What a call that tests does: a turn for that engine, and every few microseconds one for MPI's own progress.
void progress_once(core::Engine& engine);
/// With a turn for each engine that has something in flight.
void progress_once();

/// The hook for a wait that begins now: gives MPI's own progress a turn every few microseconds (a peer may be in the
/// middle of an MPI call that needs this rank), names communicators, and moves addresses. It is called by the waiting
/// thread only, so it is as legal as the call that waits.
[[nodiscard]] core::IdleHook next_idle_hook() noexcept;

}  // namespace fab::mpi
