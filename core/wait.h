// Waiting for runs, with the time-out of FAB_WAIT_TIMEOUT.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/engine.h"
#include "core/run.h"

namespace fab::core {

/// Returns when the run is done. After FAB_WAIT_TIMEOUT seconds without progress of the run it ends with
/// Errc::timed_out, and its receives are taken back.
void wait(Run& run, IdleHook idle = nullptr);

/// The same, faster for short exchanges: begins with some polls under one hold of the lock.
void finish(Run& run, IdleHook idle = nullptr);

/// The same; then lets the run go and returns how it ended.
[[nodiscard]] Status complete(Run& run, IdleHook idle = nullptr);

/// One progress; returns whether the run is done.
bool test(Run& run);

/// The first of some blocks to arrive.
struct Arrived {
  std::size_t position = 0;  ///< in the list of those that were waited for
  Status status{};           ///< a failure of the run by then
};

/// Returns when one of the blocks arrivals[wanted[0]], arrivals[wanted[1]], ... of an active run is in its place, or
/// never will be. Precondition: at least one is wanted.
[[nodiscard]] Arrived wait_any(Run& run, std::span<const Arrival> arrivals, std::span<const std::size_t> wanted);
/// The same without waiting, under the engine's lock; empty when there is none yet.
[[nodiscard]] std::optional<Arrived> find_arrived(const Run& run, std::span<const Arrival> arrivals,
                                                  std::span<const std::size_t> wanted);

/// Returns the index of a run that is done; null entries are passed over. Precondition: one is not null.
std::size_t wait_any(std::span<Run* const> runs, IdleHook idle = nullptr);

}  // namespace fab::core
