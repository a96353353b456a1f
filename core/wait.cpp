#include "core/wait.h"

#include <algorithm>

#include "core/communicator.h"
#include "core/context.h"
#include "core/watch.h"

namespace fab::core {

namespace {

Engine& engine_of(const Run& run) { return run.plan().communicator().engine(); }

}  // namespace

namespace {

/// `end` is called under the lock when the run is done.
template <class End>
void finish(Run& run, IdleHook idle, End&& end) {
  Engine& engine = engine_of(run);
  const auto linger = [&] {
    const Lock lock(engine.mutex);
    engine.linger([&run] { return run.done(); });
    if (!run.done()) return false;
    end();
    return true;
  };
  while (!linger()) wait(run, idle);
  engine.leave();
}

}  // namespace

void finish(Run& run, IdleHook idle) {
  finish(run, idle, [] {});
}

Status complete(Run& run, IdleHook idle) {
  Status status;
  finish(run, idle, [&] {
    status = run.status();
    run.let_go();
  });
  return status;
}

void wait(Run& run, IdleHook idle) {
  if (run.done()) return;
  Driver driver(engine_of(run), idle);
  Run* const runs[] = {&run};
  Watch watch(runs, run.plan().communicator().context().config().wait_timeout_s);
  while (!run.done()) {
    if (driver.step()) continue;
    watch.check();
    if (!run.done()) driver.rest();
  }
}

bool test(Run& run) {
  if (run.done()) return true;
  engine_of(run).poll_once();
  return run.done();
}

std::optional<Arrived> find_arrived(const Run& run, std::span<const Arrival> arrivals,
                                    std::span<const std::size_t> wanted) {
  const auto has_arrived = [&](const std::size_t i) { return run.has_arrived(arrivals[i]); };
  const auto found = std::find_if(wanted.begin(), wanted.end(), has_arrived);
  if (found == wanted.end()) return std::nullopt;
  return Arrived{static_cast<std::size_t>(found - wanted.begin()), run.status()};
}

Arrived wait_any(Run& run, std::span<const Arrival> arrivals, std::span<const std::size_t> wanted) {
  Engine& engine = engine_of(run);
  std::optional<Arrived> arrived;
  const auto look = [&] { return (arrived = find_arrived(run, arrivals, wanted)).has_value(); };
  {
    const Lock lock(engine.mutex);
    engine.linger(look);
    look();
  }
  if (arrived) {
    engine.leave();
    return *std::move(arrived);
  }
  const auto look_again = [&] {
    const Lock lock(engine.mutex);
    return look();
  };
  Driver driver(engine, nullptr, Driver::Attention::to_everything);
  Run* const runs[] = {&run};
  Watch watch(runs, run.plan().communicator().context().config().wait_timeout_s);
  while (!look_again()) {
    if (driver.step()) continue;
    watch.check();
    if (!look_again()) driver.rest();
  }
  return *std::move(arrived);
}

std::size_t wait_any(std::span<Run* const> runs, IdleHook idle) {
  const auto is_done = [](const Run* run) { return run != nullptr && run->done(); };
  const auto first_done = [&] { return std::find_if(runs.begin(), runs.end(), is_done); };
  auto found = first_done();
  if (found == runs.end()) {
    const Run* some = *std::find_if(runs.begin(), runs.end(), [](const Run* run) { return run != nullptr; });
    Driver driver(engine_of(*some), idle);
    Watch watch(runs, some->plan().communicator().context().config().wait_timeout_s);
    while ((found = first_done()) == runs.end()) {
      if (driver.step()) continue;
      watch.check();
      if (first_done() == runs.end()) driver.rest();
    }
  }
  return static_cast<std::size_t>(found - runs.begin());
}

}  // namespace fab::core
