// MPI's completion calls, for requests of fab's and MPI's own in any mixture. While fab has nothing to do they do
// nothing but call the next definition of their name (next.h).
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <optional>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/bootstrap/meeting.h"
#include "bindings/mpi/communicators/naming.h"
#include "bindings/mpi/interception/next.h"
#include "bindings/mpi/requests/array_steps.h"
#include "bindings/mpi/requests/exchange.h"
#include "bindings/mpi/requests/idle.h"
#include "bindings/mpi/requests/observers.h"
#include "bindings/mpi/requests/request_array.h"
#include "core/job/membership.h"
#include "core/progress/driver.h"
#include "core/run/recorded_wait.h"
#include "core/run/several_engines.h"
#include "core/run/wait.h"
#include "core/run/wait_clock.h"
#include "core/run/watch.h"

namespace fab::mpi {

namespace {

constexpr int kSpins = 200;  ///< turns without an event before a wait offers its processor to others

/// Whether fab can be left out of a completion call: MPI itself takes an inactive exchange for an inactive request.
bool fab_is_idle() noexcept {
  return !is_open() ||
         (!exchanges_are_active() && !naming_is_pending() && !meeting_is_urgent() && !process_context().any_active());
}

/// Whether no request can be an exchange's.
bool all_requests_are_mpis() noexcept { return !is_open() || !exchanges_exist(); }

/// Whether a wait for requests of MPI's own must drive fab, because no other thread would.
bool fab_needs_driving() noexcept {
  return naming_is_pending() || meeting_is_urgent() ||
         (process_context().any_active() && !process_engine().has_thread());
}

core::Pending* first_of(std::span<core::Pending* const> all) noexcept {
  const auto found =
      std::ranges::find_if(all, [](const core::Pending* each) { return each != nullptr && !each->done(); });
  return found == all.end() ? nullptr : *found;
}

/// The time of a wait for several requests counts for the first of them that is in flight.
class TimedWait {
 public:
  explicit TimedWait(const RequestArray& array) noexcept : array_(array) {}
  TimedWait(const TimedWait&) = delete;
  TimedWait& operator=(const TimedWait&) = delete;

  void happened() {
    if (clock_) clock_->look(*first_);
  }
  /// The wait goes on, after a poll in which nothing happened.
  void rests() {
    if (clock_ || (first_ = first_of(array_.pending())) == nullptr) return;
    clock_.emplace(*first_);
  }
  void end() {
    if (!clock_) return;
    const core::Lock lock(first_->membership().engine());
    clock_->end(*first_);
  }

 private:
  const RequestArray& array_;
  core::Pending* first_ = nullptr;
  std::optional<core::WaitClock> clock_;
};

/// The engine of the exchanges, where all have the same one.
core::Engine& engine_of(std::span<core::Pending* const> all) noexcept {
  const core::Pending* const first = first_of(all);
  return first == nullptr ? process_engine() : first->membership().engine();
}

/// Drives what a wait is for: one engine, or several in turn.
class Turns {
 public:
  explicit Turns(std::span<core::Pending* const> all) : idle_(next_idle_hook()) {
    if (core::SeveralEngines::needed(all)) {
      several_.emplace(all);
      return;
    }
    static_cast<void>(engine_of(all).thread_call().resume_polling());
    driver_.emplace(engine_of(all), idle_);
  }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// Whether something is known to have happened.
  bool step() {
    if (driver_) return driver_->step();
    several_->poll();
    return false;
  }
  void rest() {
    if (driver_) return driver_->rest();
    idle_();
    several_->rest(core::SeveralEngines::Clock::time_point::max());
  }

 private:
  core::IdleHook idle_;
  std::optional<core::Driver> driver_;
  std::optional<core::SeveralEngines> several_;
};

/// Calls `attempt` until it returns true. Where only exchanges are waited for, the thread may sleep in the kernel.
template <class Attempt>
void wait_until(const RequestArray& array, Attempt&& attempt) {
  Turns driver(array.pending());
  core::Watch watch(array.pending(), process_context());
  TimedWait timed(array);
  const core::RecordedWait recorded(engine_of(array.pending()), first_of(array.pending()));
  int idle_turns = 0;
  while (!attempt()) {
    if (driver.step()) {
      idle_turns = 0;
      timed.happened();
      continue;
    }
    watch.check();
    if (attempt()) break;
    timed.rests();
    if (array.exchanges_active() && !array.others()) {
      driver.rest();
      continue;
    }
    advance_naming();
    if (meeting_is_urgent()) drive_meeting();
    if (++idle_turns > kSpins) ::sched_yield();
  }
  timed.end();
}

int wait_for_exchange(Exchange& exchange, MPI_Request* request, MPI_Status* status) {
  make_empty(status);
  return exchange.run() == nullptr ? MPI_SUCCESS : raise(exchange.wait(*request));
}

int wait_for_other(const Next& next, MPI_Request* request, MPI_Status* status) {
  if (!fab_needs_driving()) return next.wait(request, status);
  const RequestArray none(0, nullptr);
  int code = MPI_SUCCESS;
  int flag = 0;
  wait_until(none, [&] {
    code = next_pmpi.test(request, &flag, status);
    return flag != 0 || code != MPI_SUCCESS;
  });
  return code;
}

/// Whether a persistent exchange is inactive, or any is ready.
bool is_complete(const Exchange& exchange) {
  if (exchange.run() == nullptr) return true;
  core::Engine& engine = exchange.run()->membership().engine();
  static_cast<void>(engine.thread_call().resume_polling());  // also where it was completed meanwhile
  if (!exchange.ready()) progress_once(engine);
  if (!exchange.ready()) core::watch_tested(*exchange.run());
  return exchange.ready();
}

int test_exchange(Exchange& exchange, MPI_Request* request, int* flag, MPI_Status* status) {
  *flag = is_complete(exchange) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  make_empty(status);
  return exchange.run() == nullptr ? MPI_SUCCESS : raise(exchange.end(*request));
}

/// An exchange reports its errors through the error handler of its communicator.
int start_one(const Next& next, MPI_Request* request) {
  Exchange* exchange = find_exchange(*request);
  if (exchange == nullptr || !exchange->persistent()) return next.start(request);
  return guarded("MPI_Start", exchange->comm(), [&] { exchange->start(); });
}

/// Bodies throw nothing but bad_alloc.
template <class Body>
int result_of(const char* call, Body&& body) noexcept {
  int code = MPI_SUCCESS;
  const int thrown = guarded(call, MPI_COMM_NULL, [&] { code = body(); });
  return thrown != MPI_SUCCESS ? thrown : code;
}

/// Of a call that waits or tests.
template <class Body>
int completing(const char* call, Body&& body) noexcept {
  const ObservedCompletion observed;
  return result_of(call, body);
}

// The calls, each of which has two names. `next` is what there is behind that name.

inline int wait(const Next& next, MPI_Request* request, MPI_Status* status) {
  if (request == nullptr || fab_is_idle()) return next.wait(request, status);
  return completing("MPI_Wait", [&] {
    Exchange* exchange = find_exchange(*request);
    return exchange != nullptr ? wait_for_exchange(*exchange, request, status) : wait_for_other(next, request, status);
  });
}

inline int test(const Next& next, MPI_Request* request, int* flag, MPI_Status* status) {
  if (request == nullptr || flag == nullptr || fab_is_idle()) return next.test(request, flag, status);
  return completing("MPI_Test", [&] {
    if (Exchange* exchange = find_exchange(*request)) return test_exchange(*exchange, request, flag, status);
    progress_once();
    return next.test(request, flag, status);
  });
}

inline int get_status(const Next& next, MPI_Request request, int* flag, MPI_Status* status) {
  if (flag == nullptr || fab_is_idle()) return next.get_status(request, flag, status);
  return completing("MPI_Request_get_status", [&] {
    const Exchange* exchange = find_exchange(request);
    if (exchange == nullptr) {
      progress_once();
      return next.get_status(request, flag, status);
    }
    *flag = is_complete(*exchange) ? 1 : 0;
    if (*flag != 0) make_empty(status);
    return MPI_SUCCESS;
  });
}

inline int request_free(const Next& next, MPI_Request* request) {
  if (request == nullptr || all_requests_are_mpis()) return next.request_free(request);
  return result_of("MPI_Request_free", [&] {
    Exchange* exchange = find_exchange(*request);
    if (exchange == nullptr) return next.request_free(request);
    exchange->abandon(*request);
    return MPI_SUCCESS;
  });
}

// Exchanges cannot be cancelled, as collectives cannot.
inline int cancel(const Next& next, MPI_Request* request) {
  if (request == nullptr || all_requests_are_mpis() || find_exchange(*request) == nullptr) return next.cancel(request);
  return MPI_SUCCESS;
}

inline int start_request(const Next& next, MPI_Request* request) {
  if (request == nullptr || all_requests_are_mpis()) return next.start(request);
  return result_of("MPI_Start", [&] { return start_one(next, request); });
}

inline int startall(const Next& next, int count, MPI_Request requests[]) {
  if (requests == nullptr || all_requests_are_mpis()) return next.startall(count, requests);
  return result_of("MPI_Startall", [&] {
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; ++i) code = start_one(next, &requests[i]);
    return code;
  });
}

inline int waitall(const Next& next, int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (requests == nullptr || fab_is_idle()) return next.waitall(count, requests, statuses);
  return completing("MPI_Waitall", [&] {
    All all(count, requests, statuses);
    wait_until(all.array, [&] { return all.wait_step(); });
    return all.settle();
  });
}

inline int testall(const Next& next, int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (requests == nullptr || flag == nullptr || fab_is_idle()) return next.testall(count, requests, flag, statuses);
  return completing("MPI_Testall", [&] {
    progress_once();
    All all(count, requests, statuses);
    core::watch_tested(all.array.pending());
    *flag = all.test_step() ? 1 : 0;
    return *flag != 0 ? all.settle() : MPI_SUCCESS;
  });
}

inline int waitany(const Next& next, int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (requests == nullptr || index == nullptr || fab_is_idle()) return next.waitany(count, requests, index, status);
  return completing("MPI_Waitany", [&] {
    Any any(count, requests, index, status);
    wait_until(any.array, [&] { return any.step(); });
    return any.settle();
  });
}

inline int testany(const Next& next, int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (requests == nullptr || index == nullptr || flag == nullptr || fab_is_idle())
    return next.testany(count, requests, index, flag, status);
  return completing("MPI_Testany", [&] {
    progress_once();
    Any any(count, requests, index, status);
    core::watch_tested(any.array.pending());
    *flag = any.step() ? 1 : 0;
    return *flag != 0 ? any.settle() : MPI_SUCCESS;
  });
}

inline int waitsome(const Next& next, int count, MPI_Request requests[], int* completed, int indices[],
                    MPI_Status statuses[]) {
  if (requests == nullptr || completed == nullptr || fab_is_idle())
    return next.waitsome(count, requests, completed, indices, statuses);
  return completing("MPI_Waitsome", [&] {
    Some some(count, requests, completed, indices, statuses);
    wait_until(some.array, [&] { return some.step(); });
    return some.settle();
  });
}

inline int testsome(const Next& next, int count, MPI_Request requests[], int* completed, int indices[],
                    MPI_Status statuses[]) {
  if (requests == nullptr || completed == nullptr || fab_is_idle())
    return next.testsome(count, requests, completed, indices, statuses);
  return completing("MPI_Testsome", [&] {
    progress_once();
    Some some(count, requests, completed, indices, statuses);
    core::watch_tested(some.array.pending());
    static_cast<void>(some.step());
    return some.settle();
  });
}

}  // namespace

}  // namespace fab::mpi

using fab::mpi::next_mpi;
using fab::mpi::next_pmpi;

extern "C" {
int MPI_Wait(MPI_Request* request, MPI_Status* status) { return fab::mpi::wait(next_mpi, request, status); }
int PMPI_Wait(MPI_Request* request, MPI_Status* status) { return fab::mpi::wait(next_pmpi, request, status); }
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return fab::mpi::test(next_mpi, request, flag, status);
}
int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  return fab::mpi::test(next_pmpi, request, flag, status);
}
int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return fab::mpi::get_status(next_mpi, request, flag, status);
}
int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return fab::mpi::get_status(next_pmpi, request, flag, status);
}
int MPI_Request_free(MPI_Request* request) { return fab::mpi::request_free(next_mpi, request); }
int PMPI_Request_free(MPI_Request* request) { return fab::mpi::request_free(next_pmpi, request); }
int MPI_Cancel(MPI_Request* request) { return fab::mpi::cancel(next_mpi, request); }
int PMPI_Cancel(MPI_Request* request) { return fab::mpi::cancel(next_pmpi, request); }
int MPI_Start(MPI_Request* request) { return fab::mpi::start_request(next_mpi, request); }
int PMPI_Start(MPI_Request* request) { return fab::mpi::start_request(next_pmpi, request); }
int MPI_Startall(int count, MPI_Request requests[]) { return fab::mpi::startall(next_mpi, count, requests); }
int PMPI_Startall(int count, MPI_Request requests[]) { return fab::mpi::startall(next_pmpi, count, requests); }
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return fab::mpi::waitall(next_mpi, count, requests, statuses);
}
int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return fab::mpi::waitall(next_pmpi, count, requests, statuses);
}
int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  return fab::mpi::testall(next_mpi, count, requests, flag, statuses);
}
int PMPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  return fab::mpi::testall(next_pmpi, count, requests, flag, statuses);
}
int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  return fab::mpi::waitany(next_mpi, count, requests, index, status);
}
int PMPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  return fab::mpi::waitany(next_pmpi, count, requests, index, status);
}
int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  return fab::mpi::testany(next_mpi, count, requests, index, flag, status);
}
int PMPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  return fab::mpi::testany(next_pmpi, count, requests, index, flag, status);
}
int MPI_Waitsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  return fab::mpi::waitsome(next_mpi, count, requests, completed, indices, statuses);
}
int PMPI_Waitsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  return fab::mpi::waitsome(next_pmpi, count, requests, completed, indices, statuses);
}
int MPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  return fab::mpi::testsome(next_mpi, count, requests, completed, indices, statuses);
}
int PMPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  return fab::mpi::testsome(next_pmpi, count, requests, completed, indices, statuses);
}
}  // extern "C"
