// MPI's completion calls, for requests of fab's and MPI's own in any mixture. They have MPI's names and call the PMPI_
// functions; while fab has nothing to do they do nothing else.
#include <mpi.h>
#include <sched.h>

#include "bindings/mpi/exchange.h"
#include "bindings/mpi/failure.h"
#include "bindings/mpi/idle.h"
#include "bindings/mpi/naming.h"
#include "bindings/mpi/process.h"
#include "bindings/mpi/request_array.h"
#include "core/wait.h"
#include "core/watch.h"

namespace fab::mpi {

namespace {

constexpr int kSpins = 200;  ///< turns without an event before a wait offers its processor to others

/// Whether fab can be left out of a completion call: MPI itself takes an inactive exchange for an inactive request.
bool fab_is_idle() noexcept {
  const Process& process = Process::instance();
  return !process.is_open() || (!exchanges_are_active() && !naming_is_pending() && process.engine().active() == 0);
}

/// Whether no request can be an exchange's.
bool all_requests_are_mpis() noexcept { return !Process::instance().is_open() || !exchanges_exist(); }

/// Whether a wait for requests of MPI's own must drive fab, because nobody else would.
bool fab_needs_driving() noexcept {
  const core::Engine& engine = Process::instance().engine();
  return naming_is_pending() || (engine.active() > 0 && !engine.has_thread());
}

/// Reports a failed exchange as the result of a call that gives one status.
int raise(const Outcome& outcome) noexcept {
  return outcome.attachment == nullptr ? outcome.code : call_error_handler(outcome.attachment->comm, outcome.code);
}

/// Calls `attempt` until it returns true. Where only exchanges are waited for, the thread may sleep in the kernel.
template <class Attempt>
void wait_until(const RequestArray& array, Attempt&& attempt) {
  const Process& process = Process::instance();
  core::Driver driver(process.engine(), next_idle_hook());
  core::Watch watch(array.pending(), process.context()->config().wait_timeout_s);
  int idle_turns = 0;
  while (!attempt()) {
    if (driver.step()) {
      idle_turns = 0;
      continue;
    }
    watch.check();
    if (attempt()) return;
    if (array.exchanges_active() && !array.others()) {
      driver.rest();
      continue;
    }
    advance_naming();
    if (++idle_turns > kSpins) ::sched_yield();
  }
}

MPI_Status* nth(MPI_Status statuses[], int k) noexcept {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[k];
}

/// Ends the exchanges among the `count` requests that a call has found complete, index(k) being the k-th, and returns
/// what the call returns, `code` being MPI's own result for the others.
template <class Index>
int settle(int code, int count, MPI_Status statuses[], RequestArray& array, Index&& index) {
  std::shared_ptr<Attachment> failed;
  const auto set = [statuses](int k, int error) {
    if (statuses != MPI_STATUSES_IGNORE) statuses[k].MPI_ERROR = error;
  };
  for (int k = 0; k < count; ++k) {
    const Outcome outcome = array.end(index(k));
    if (outcome.code == MPI_SUCCESS) continue;
    if (failed == nullptr && code == MPI_SUCCESS)
      for (int other = 0; other < count; ++other) set(other, MPI_SUCCESS);
    if (failed == nullptr) failed = outcome.attachment;
    set(k, outcome.code);
  }
  if (failed == nullptr || code != MPI_SUCCESS) return code;  // MPI has called an error handler for its own requests
  return call_error_handler(failed->comm, MPI_ERR_IN_STATUS);
}

// One look each, for the waiting and the testing form of a call. They return whether the call is over.

/// What is complete becomes known to MPI at once, to fab when the call is over.
class All {
 public:
  All(int count, MPI_Request requests[], MPI_Status statuses[])
      : array(count, requests), count_(count), requests_(requests), statuses_(statuses) {}

  bool wait_step() {
    if (array.others()) look_at_others();
    return !array.others() && array.all_ready();
  }
  bool test_step() {
    if (!array.all_ready()) return false;
    if (array.others()) look_at_others();
    return !array.others();
  }
  [[nodiscard]] int settle() {
    if (!mpi_gave_statuses_)
      for (int k = 0; k < count_; ++k) make_empty(nth(statuses_, k));
    return mpi::settle(code_, count_, statuses_, array, [](int k) { return k; });
  }

  RequestArray array;

 private:
  void look_at_others() {
    int flag = 0;
    code_ = PMPI_Testall(count_, requests_, &flag, statuses_);
    if (flag == 0 && code_ == MPI_SUCCESS) return;
    array.others_ended();
    mpi_gave_statuses_ = true;
  }

  int count_;
  MPI_Request* requests_;
  MPI_Status* statuses_;
  int code_ = MPI_SUCCESS;
  bool mpi_gave_statuses_ = false;
};

class Any {
 public:
  Any(int count, MPI_Request requests[], int* index, MPI_Status* status)
      : array(count, requests), count_(count), requests_(requests), index_(index), status_(status) {}

  bool step() {
    *index_ = array.find_ready();
    ready_ = *index_ >= 0;
    if (ready_) return true;
    *index_ = MPI_UNDEFINED;
    if (!array.others()) return !array.exchanges_active();
    int flag = 0;
    code_ = PMPI_Testany(count_, requests_, index_, &flag, status_);
    if (code_ != MPI_SUCCESS) return true;
    return flag != 0 && (*index_ != MPI_UNDEFINED || !array.exchanges_active());
  }
  [[nodiscard]] int settle() {
    if (ready_ || !array.others()) make_empty(status_);
    return ready_ ? raise(array.end(*index_)) : code_;
  }

  RequestArray array;

 private:
  int count_;
  MPI_Request* requests_;
  int* index_;
  MPI_Status* status_;
  int code_ = MPI_SUCCESS;
  bool ready_ = false;
};

class Some {
 public:
  Some(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[])
      : array(count, requests),
        count_(count),
        requests_(requests),
        completed_(completed),
        indices_(indices),
        statuses_(statuses) {}

  /// MPI's come first among those that are complete.
  bool step() {
    const bool any_active = look_at_others() || array.exchanges_active();
    int index = array.find_ready();
    if (index >= 0 && *completed_ == MPI_UNDEFINED) *completed_ = 0;
    for (; index >= 0; index = array.find_ready(index + 1)) {
      make_empty(nth(statuses_, *completed_));
      indices_[(*completed_)++] = index;
    }
    if (any_active && *completed_ == MPI_UNDEFINED) *completed_ = 0;
    return *completed_ != 0 || code_ != MPI_SUCCESS;
  }
  [[nodiscard]] int settle() {
    const int count = *completed_ == MPI_UNDEFINED ? 0 : *completed_;
    return mpi::settle(code_, count, statuses_, array, [this](int k) { return indices_[k]; });
  }

  RequestArray array;

 private:
  /// Whether there are active ones.
  bool look_at_others() {
    *completed_ = MPI_UNDEFINED;
    if (!array.others()) return false;
    code_ = PMPI_Testsome(count_, requests_, completed_, indices_, statuses_);
    return *completed_ != MPI_UNDEFINED;
  }

  int count_;
  MPI_Request* requests_;
  int* completed_;
  int* indices_;
  MPI_Status* statuses_;
  int code_ = MPI_SUCCESS;
};

int wait_for_exchange(Exchange& exchange, MPI_Request* request, MPI_Status* status) {
  make_empty(status);
  return exchange.run() == nullptr ? MPI_SUCCESS : raise(exchange.wait(*request));
}

int wait_for_other(MPI_Request* request, MPI_Status* status) {
  if (!fab_needs_driving()) return PMPI_Wait(request, status);
  const RequestArray none(0, nullptr);
  int code = MPI_SUCCESS;
  int flag = 0;
  wait_until(none, [&] {
    code = PMPI_Test(request, &flag, status);
    return flag != 0 || code != MPI_SUCCESS;
  });
  return code;
}

/// Whether a persistent exchange is inactive, or any is ready.
bool is_complete(const Exchange& exchange) {
  if (exchange.run() != nullptr && !exchange.ready()) progress_once();
  return exchange.run() == nullptr || exchange.ready();
}

int test_exchange(Exchange& exchange, MPI_Request* request, int* flag, MPI_Status* status) {
  *flag = is_complete(exchange) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  make_empty(status);
  return exchange.run() == nullptr ? MPI_SUCCESS : raise(exchange.end(*request));
}

/// An exchange reports its errors through the error handler of its communicator.
int start(MPI_Request* request) {
  Exchange* exchange = find_exchange(*request);
  if (exchange == nullptr || !exchange->persistent()) return PMPI_Start(request);
  return guarded("MPI_Start", exchange->comm(), [&] { exchange->start(); });
}

/// Bodies throw nothing but bad_alloc.
template <class Body>
int completing(const char* call, Body&& body) noexcept {
  int code = MPI_SUCCESS;
  const int thrown = guarded(call, MPI_COMM_NULL, [&] { code = body(); });
  return thrown != MPI_SUCCESS ? thrown : code;
}

}  // namespace

}  // namespace fab::mpi

using namespace fab::mpi;

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (request == nullptr || fab_is_idle()) return PMPI_Wait(request, status);
  return completing("MPI_Wait", [&] {
    Exchange* exchange = find_exchange(*request);
    return exchange != nullptr ? wait_for_exchange(*exchange, request, status) : wait_for_other(request, status);
  });
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (request == nullptr || flag == nullptr || fab_is_idle()) return PMPI_Test(request, flag, status);
  return completing("MPI_Test", [&] {
    if (Exchange* exchange = find_exchange(*request)) return test_exchange(*exchange, request, flag, status);
    progress_once();
    return PMPI_Test(request, flag, status);
  });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (flag == nullptr || fab_is_idle()) return PMPI_Request_get_status(request, flag, status);
  return completing("MPI_Request_get_status", [&] {
    const Exchange* exchange = find_exchange(request);
    if (exchange == nullptr) {
      progress_once();
      return PMPI_Request_get_status(request, flag, status);
    }
    *flag = is_complete(*exchange) ? 1 : 0;
    if (*flag != 0) make_empty(status);
    return MPI_SUCCESS;
  });
}

int MPI_Request_free(MPI_Request* request) {
  if (request == nullptr || all_requests_are_mpis()) return PMPI_Request_free(request);
  return completing("MPI_Request_free", [&] {
    Exchange* exchange = find_exchange(*request);
    if (exchange == nullptr) return PMPI_Request_free(request);
    exchange->abandon(*request);
    return MPI_SUCCESS;
  });
}

// Exchanges cannot be cancelled, as collectives cannot.
int MPI_Cancel(MPI_Request* request) {
  if (request == nullptr || all_requests_are_mpis() || find_exchange(*request) == nullptr) return PMPI_Cancel(request);
  return MPI_SUCCESS;
}

int MPI_Start(MPI_Request* request) {
  if (request == nullptr || all_requests_are_mpis()) return PMPI_Start(request);
  return completing("MPI_Start", [&] { return start(request); });
}

int MPI_Startall(int count, MPI_Request requests[]) {
  if (requests == nullptr || all_requests_are_mpis()) return PMPI_Startall(count, requests);
  return completing("MPI_Startall", [&] {
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; ++i) code = start(&requests[i]);
    return code;
  });
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (requests == nullptr || fab_is_idle()) return PMPI_Waitall(count, requests, statuses);
  return completing("MPI_Waitall", [&] {
    All all(count, requests, statuses);
    wait_until(all.array, [&] { return all.wait_step(); });
    return all.settle();
  });
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (requests == nullptr || flag == nullptr || fab_is_idle()) return PMPI_Testall(count, requests, flag, statuses);
  return completing("MPI_Testall", [&] {
    progress_once();
    All all(count, requests, statuses);
    *flag = all.test_step() ? 1 : 0;
    return *flag != 0 ? all.settle() : MPI_SUCCESS;
  });
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (requests == nullptr || index == nullptr || fab_is_idle()) return PMPI_Waitany(count, requests, index, status);
  return completing("MPI_Waitany", [&] {
    Any any(count, requests, index, status);
    wait_until(any.array, [&] { return any.step(); });
    return any.settle();
  });
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (requests == nullptr || index == nullptr || flag == nullptr || fab_is_idle())
    return PMPI_Testany(count, requests, index, flag, status);
  return completing("MPI_Testany", [&] {
    progress_once();
    Any any(count, requests, index, status);
    *flag = any.step() ? 1 : 0;
    return *flag != 0 ? any.settle() : MPI_SUCCESS;
  });
}

int MPI_Waitsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (requests == nullptr || completed == nullptr || fab_is_idle())
    return PMPI_Waitsome(count, requests, completed, indices, statuses);
  return completing("MPI_Waitsome", [&] {
    Some some(count, requests, completed, indices, statuses);
    wait_until(some.array, [&] { return some.step(); });
    return some.settle();
  });
}

int MPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (requests == nullptr || completed == nullptr || fab_is_idle())
    return PMPI_Testsome(count, requests, completed, indices, statuses);
  return completing("MPI_Testsome", [&] {
    progress_once();
    Some some(count, requests, completed, indices, statuses);
    static_cast<void>(some.step());
    return some.settle();
  });
}

}  // extern "C"
