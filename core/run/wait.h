// Waiting for runs and messages, with the time-out of FAB_WAIT_TIMEOUT.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include "core/progress/driver.h"
#include "core/progress/pending.h"
#include "core/run/run.h"

namespace fab::core {

// In a child of fork() nothing that its parent started is ever done: there waits end at once, with Errc::cancelled
// where they can tell.

/// How something ended that the parent started.
[[nodiscard]] Status ended_by_fork();

/// Returns when it is done. After FAB_WAIT_TIMEOUT seconds without progress it ends with Errc::timed_out, and its
/// receives are taken back.
void wait(Pending& pending, IdleHook idle = nullptr);

/// wait(), faster for short exchanges: begins with some polls under one hold of the lock.
void finish(Pending& pending, IdleHook idle = nullptr);

/// finish(); then lets it go and returns how it ended, and tells what it received.
[[nodiscard]] Status complete(Pending& pending, IdleHook idle = nullptr, MessageInfo* message = nullptr);

/// What a blocking call has left to wait for, under the hold of the lock in which it started: null if that is done
/// already. Then it has been let go, and `status` tells how it ended.
[[nodiscard]] Pending* unfinished(Pending& started, Status& status) FAB_REQUIRES(engine_lock);

/// Lets go of one that is done already, and tells how it ended, and what it received. False: it is not done.
[[nodiscard]] bool take_end(Pending& pending, Status& status, MessageInfo& message) FAB_REQUIRES(engine_lock);

/// As wait, until the clock shows that time: returns whether it is done. FAB_WAIT_TIMEOUT does not end it.
[[nodiscard]] bool wait_until(Pending& pending, std::chrono::steady_clock::time_point time);

/// One progress; returns whether it is done.
bool test(Pending& pending);

/// The first of some blocks to arrive.
struct Arrived {
  std::size_t position = 0;  ///< in the list of those that were waited for
  Status status{};           ///< a failure of the run by then
};

/// Returns when one of the blocks arrivals[wanted[0]], arrivals[wanted[1]], ... of an active run is in its place, or
/// never will be. Precondition: at least one is wanted.
[[nodiscard]] Arrived wait_any(Run& run, std::span<const Arrival> arrivals, std::span<const std::size_t> wanted);
/// wait_any until the clock shows that time: empty if no block is in its place by then.
[[nodiscard]] std::optional<Arrived> wait_any_until(Run& run, std::span<const Arrival> arrivals,
                                                    std::span<const std::size_t> wanted,
                                                    std::chrono::steady_clock::time_point time);
/// wait_any without waiting; empty when there is none yet.
[[nodiscard]] std::optional<Arrived> find_arrived(const Run& run, std::span<const Arrival> arrivals,
                                                  std::span<const std::size_t> wanted) FAB_REQUIRES(engine_lock);

/// Returns the index of one that is done; null entries are passed over. Precondition: one is not null. Throws
/// Error(cancelled) in a child.
std::size_t wait_any(std::span<Pending* const> all, IdleHook idle = nullptr);

/// wait_any until the clock shows that time: empty if none is done by then. FAB_WAIT_TIMEOUT ends none of them.
[[nodiscard]] std::optional<std::size_t> wait_any_until(std::span<Pending* const> all,
                                                        std::chrono::steady_clock::time_point time);

/// wait_any, faster where one is soon done: begins with some polls under one hold of the lock.
std::size_t finish_any(std::span<Pending* const> all);

}  // namespace fab::core
