#include "core/run/wait.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/base/ticks.h"
#include "core/job/membership.h"
#include "core/progress/progress_policy.h"
#include "core/run/recorded_wait.h"
#include "core/run/several_engines.h"
#include "core/run/wait_clock.h"
#include "core/run/watch.h"

namespace fab::core {

namespace {

Engine& engine_of(const Pending& pending) { return pending.membership().engine(); }

Runtime& runtime_of(const Pending& pending) { return pending.membership().runtime(); }

}  // namespace

namespace {

std::uint64_t ns_since(std::chrono::steady_clock::time_point begun) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begun).count());
}

/// Rounded up, so that no wait returns before its time.
int ms_at_most(std::chrono::steady_clock::duration left) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::min<std::int64_t>(ms, std::numeric_limits<int>::max()));
}

void end(WaitClock& clock, Pending& pending) {
  const Lock lock(engine_of(pending));
  clock.end(pending);
}

/// Returns when it is done. `begun` as WaitClock has it.
void wait_on(Pending& pending, IdleHook idle, WaitClock::Time begun) {
  const auto is_done = [&pending] { return pending.done(); };
  Driver driver(engine_of(pending), idle, Driver::Attention::to_runs, Condition(is_done));
  Pending* const all[] = {&pending};
  Watch watch(all, runtime_of(pending));
  WaitClock clock(pending, begun);
  while (!pending.done()) {
    if (driver.step()) {
      clock.look(pending);
      continue;
    }
    watch.check();
    if (!pending.done()) driver.rest();
  }
  end(clock, pending);
}

/// Drives until `is_done`, and until the clock shows `time` at most. Calls `happened` after a step in which something
/// did, `stalled` after another one.
template <class Done, class Happened, class Stalled>
void drive_until(Driver& driver, std::chrono::steady_clock::time_point time, Done&& is_done, Happened&& happened,
                 Stalled&& stalled) {
  using std::chrono::steady_clock;
  while (!is_done()) {
    const bool moved = driver.step();
    if (moved) happened();
    if (is_done()) break;
    const auto left = time - steady_clock::now();
    if (left <= steady_clock::duration::zero()) break;
    if (moved) continue;
    stalled();
    if (!is_done()) driver.rest(ms_at_most(left));
  }
}

WaitClock::Time take_first_yield(Engine& engine) {
  const Lock lock(engine);
  return engine.take_first_yield();
}

/// `end` is called under the lock when it is done. False: it never will be.
template <class End>
bool finish(Pending& pending, IdleHook idle, End&& end) {
  Engine& engine = engine_of(pending);
  const RecordedWait recorded(engine, &pending);
  const std::uint64_t left_at = engine.thread_call().resume_polling();
  const auto spin = [&] {
    const Lock lock(engine);
    engine.spin_until([&pending] { return pending.done(); });
    if (!pending.done()) return false;
    if (!engine.caller_may_spin())  // polls that offered the processor to others were a wait
      if (const auto begun = engine.take_first_yield(); begun != WaitClock::kNow) WaitClock::end(pending, begun);
    pending.over(left_at != 0 && ticks() - left_at > ticks_in(ProgressPolicy::kLongRun));
    end();
    return true;
  };
  while (!spin()) {
    if (engine.halted()) return false;
    wait_on(pending, idle, take_first_yield(engine));
  }
  engine.hand_over_progress();
  return true;
}

}  // namespace

Status ended_by_fork() {
  return {make_error_code(Errc::cancelled),
          "the parent process started it before fork(), and only the parent can complete it"};
}

void finish(Pending& pending, IdleHook idle) {
  static_cast<void>(finish(pending, idle, [] {}));
}

Status complete(Pending& pending, IdleHook idle, MessageInfo* message) {
  Status status;
  const bool finished = finish(pending, idle, [&]() FAB_REQUIRES(engine_lock) {
    status = pending.status();
    if (message != nullptr) *message = pending.message();
    pending.let_go();
  });
  if (!finished) status = ended_by_fork();
  return status;
}

// Polls here for those that are not done gain nothing: a rank that looks for a peer's cells earlier takes them from the
// peer while it writes.
Pending* unfinished(Pending& started, Status& status) {
  if (!started.done()) return &started;
  static_cast<void>(engine_of(started).thread_call().resume_polling());
  started.over(false);
  if (!started.status().ok()) [[unlikely]]
    status = started.status();
  started.let_go();
  return nullptr;
}

bool take_end(Pending& pending, Status& status, MessageInfo& message) {
  if (!pending.done()) return false;
  status = pending.status();
  message = pending.message();
  pending.let_go();
  return true;
}

void wait(Pending& pending, IdleHook idle) {
  if (pending.done() || engine_of(pending).halted()) return;
  const RecordedWait recorded(engine_of(pending), &pending);
  wait_on(pending, idle, WaitClock::kNow);
}

bool wait_until(Pending& pending, std::chrono::steady_clock::time_point time) {
  Engine& engine = engine_of(pending);
  const RecordedWait recorded(engine, &pending);
  engine.thread_call().resume_polling();
  const auto is_done = [&pending] { return pending.done(); };
  if (!is_done() && !engine.halted()) {
    Driver driver(engine, nullptr, Driver::Attention::to_runs, Condition(is_done));
    WaitClock clock(pending);
    drive_until(
        driver, time, is_done, [&] { clock.look(pending); }, [&] { watch_tested(pending); });
    end(clock, pending);
  }
  if (!is_done()) return false;
  pending.over(false);
  return true;
}

bool test(Pending& pending) {
  engine_of(pending).thread_call().resume_polling();
  if (!pending.done()) engine_of(pending).poll_once();
  if (!pending.done()) watch_tested(pending);
  if (!pending.done()) return false;
  pending.over(false);
  return true;
}

std::optional<Arrived> find_arrived(const Run& run, std::span<const Arrival> arrivals,
                                    std::span<const std::size_t> wanted) {
  const auto has_arrived = [&](const std::size_t i) FAB_REQUIRES(engine_lock) { return run.has_arrived(arrivals[i]); };
  const auto found = std::find_if(wanted.begin(), wanted.end(), has_arrived);
  if (found == wanted.end()) return std::nullopt;
  return Arrived{static_cast<std::size_t>(found - wanted.begin()), run.status()};
}

Arrived wait_any(Run& run, std::span<const Arrival> arrivals, std::span<const std::size_t> wanted) {
  Engine& engine = engine_of(run);
  const RecordedWait recorded(engine, &run);
  engine.thread_call().resume_polling();
  std::optional<Arrived> arrived;
  const auto look = [&]() FAB_REQUIRES(engine_lock) {
    return (arrived = find_arrived(run, arrivals, wanted)).has_value();
  };
  WaitClock::Time begun = WaitClock::kNow;
  {
    const Lock lock(engine);
    engine.spin_until(look);
    begun = engine.take_first_yield();
    if (look() && begun != WaitClock::kNow) WaitClock::end(run, begun);
  }
  if (arrived) {
    engine.hand_over_progress();
    return *std::move(arrived);
  }
  if (engine.halted()) return {.status = ended_by_fork()};
  const auto look_again = [&] {
    const Lock lock(engine);
    return look();
  };
  const auto has_arrived = [&] {
    engine_lock.assert_held();
    return find_arrived(run, arrivals, wanted).has_value();
  };
  Driver driver(engine, nullptr, Driver::Attention::to_everything, Condition(has_arrived));
  Pending* const all[] = {&run};
  Watch watch(all, runtime_of(run));
  WaitClock clock(run, begun);
  while (!look_again()) {
    if (driver.step()) {
      clock.look(run);
      continue;
    }
    watch.check();
    if (!look_again()) driver.rest();
  }
  end(clock, run);
  return *std::move(arrived);
}

std::optional<Arrived> wait_any_until(Run& run, std::span<const Arrival> arrivals, std::span<const std::size_t> wanted,
                                      std::chrono::steady_clock::time_point time) {
  Engine& engine = engine_of(run);
  const RecordedWait recorded(engine, &run);
  engine.thread_call().resume_polling();
  std::optional<Arrived> arrived;
  const auto look = [&] {
    const Lock lock(engine);
    return (arrived = find_arrived(run, arrivals, wanted)).has_value();
  };
  if (look()) return arrived;
  if (engine.halted()) return Arrived{.status = ended_by_fork()};
  const auto has_arrived = [&] {
    engine_lock.assert_held();
    return find_arrived(run, arrivals, wanted).has_value();
  };
  Driver driver(engine, nullptr, Driver::Attention::to_everything, Condition(has_arrived));
  WaitClock clock(run);
  drive_until(
      driver, time, look, [&] { clock.look(run); }, [&] { watch_tested(run); });
  end(clock, run);
  return arrived;
}

namespace {

/// Where they are on several engines: returns when one is done, or the clock shows `end`. Without an end they are
/// watched as those who wait for ever have it.
void wait_on_several_engines(std::span<Pending* const> all, IdleHook idle,
                             std::optional<std::chrono::steady_clock::time_point> end) {
  using std::chrono::steady_clock;
  const auto is_done = [](const Pending* each) { return each != nullptr && each->done(); };
  Pending& some = **std::ranges::find_if(all, [](const Pending* each) { return each != nullptr; });
  if (engine_of(some).halted()) throw Error(Errc::cancelled, ended_by_fork().message);
  SeveralEngines engines(all);
  Watch watch(all, runtime_of(some));
  const auto begun = steady_clock::now();
  const auto one_is_done = [&] { return std::ranges::any_of(all, is_done); };
  while (!one_is_done()) {
    engines.poll();
    if (one_is_done()) break;
    if (end && steady_clock::now() >= *end) return;
    if (end)
      watch_tested(all);
    else
      watch.check();
    if (idle != nullptr) idle();
    engines.rest(end.value_or(steady_clock::time_point::max()));
  }
  Pending& found = **std::ranges::find_if(all, is_done);
  const Lock lock(engine_of(found));
  found.waited(ns_since(begun));
}

}  // namespace

std::size_t wait_any(std::span<Pending* const> all, IdleHook idle) {
  const auto is_done = [](const Pending* each) { return each != nullptr && each->done(); };
  const auto first_done = [&] { return std::find_if(all.begin(), all.end(), is_done); };
  const auto one_is_done = [&] { return first_done() != all.end(); };
  auto found = first_done();
  if (found == all.end() && SeveralEngines::needed(all)) {
    wait_on_several_engines(all, idle, std::nullopt);
    found = first_done();
  }
  if (found == all.end()) {
    const Pending* some = *std::find_if(all.begin(), all.end(), [](const Pending* each) { return each != nullptr; });
    RecordedWait recorded(engine_of(*some), some);
    engine_of(*some).thread_call().resume_polling();
    if (engine_of(*some).halted()) throw Error(Errc::cancelled, ended_by_fork().message);
    Driver driver(engine_of(*some), idle, Driver::Attention::to_runs, Condition(one_is_done));
    Watch watch(all, runtime_of(*some));
    const auto begun = std::chrono::steady_clock::now();
    while ((found = first_done()) == all.end()) {
      if (driver.step()) continue;
      watch.check();
      if (first_done() == all.end()) driver.rest();
    }
    const Lock lock(engine_of(*some));
    (*found)->waited(ns_since(begun));
    recorded.name(**found);
  }
  return static_cast<std::size_t>(found - all.begin());
}

std::optional<std::size_t> wait_any_until(std::span<Pending* const> all, std::chrono::steady_clock::time_point time) {
  const auto is_done = [](const Pending* each) { return each != nullptr && each->done(); };
  const auto one_is_done = [&] { return std::ranges::any_of(all, is_done); };
  if (!one_is_done() && SeveralEngines::needed(all)) {
    wait_on_several_engines(all, nullptr, time);
    if (!one_is_done()) return std::nullopt;
  }
  if (!one_is_done()) {
    Pending& some = **std::ranges::find_if(all, [](const Pending* each) { return each != nullptr; });
    Engine& engine = engine_of(some);
    RecordedWait recorded(engine, &some);
    engine.thread_call().resume_polling();
    if (engine.halted()) throw Error(Errc::cancelled, ended_by_fork().message);
    Driver driver(engine, nullptr, Driver::Attention::to_runs, Condition(one_is_done));
    const auto begun = std::chrono::steady_clock::now();
    drive_until(
        driver, time, one_is_done, [] {}, [&] { watch_tested(all); });
    const auto found = std::ranges::find_if(all, is_done);
    if (found == all.end()) return std::nullopt;
    const Lock lock(engine);
    (*found)->waited(ns_since(begun));
    recorded.name(**found);
  }
  return static_cast<std::size_t>(std::ranges::find_if(all, is_done) - all.begin());
}

std::size_t finish_any(std::span<Pending* const> all) {
  const auto is_done = [](const Pending* each) { return each != nullptr && each->done(); };
  const auto one_is_done = [&] { return std::ranges::any_of(all, is_done); };
  if (!one_is_done() && !SeveralEngines::needed(all)) {
    Engine& engine = engine_of(**std::ranges::find_if(all, [](const Pending* each) { return each != nullptr; }));
    engine.thread_call().resume_polling();
    const Lock lock(engine);
    engine.spin_until(one_is_done);
    static_cast<void>(engine.take_first_yield());  // what follows is timed by itself
  }
  return wait_any(all);
}

}  // namespace fab::core
