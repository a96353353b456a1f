// MPI's completion calls, for requests of fab's and MPI's own in any mixture. They have MPI's names and call the PMPI_
// functions; while fab has nothing to do they do nothing else.
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <vector>

#include "bindings/mpi/exchange.h"
#include "bindings/mpi/failure.h"
#include "bindings/mpi/idle.h"
#include "bindings/mpi/naming.h"
#include "bindings/mpi/process.h"
#include "core/wait.h"
#include "core/watch.h"

namespace fab::mpi {

namespace {

constexpr int kSpins = 200;  ///< turns without an event before a wait offers its processor to others

/// Whether fab can be left out of a call.
bool fab_is_idle() noexcept {
  const Process& process = Process::instance();
  return !process.is_open() || (!exchanges_exist() && !naming_is_pending() && process.engine().active() == 0);
}

/// Whether a wait for requests of MPI's own must drive fab, because nobody else would.
bool fab_needs_driving() noexcept {
  const core::Engine& engine = Process::instance().engine();
  return naming_is_pending() || (engine.active() > 0 && !engine.has_thread());
}

void progress_once() {
  advance_naming();
  Process::instance().engine().poll_once();
}

/// Reports a failed exchange as the result of a call that gives one status.
int raise(const Outcome& outcome) noexcept {
  return outcome.attachment == nullptr ? outcome.code : call_error_handler(outcome.attachment->comm, outcome.code);
}

/// The exchanges among the requests of a call that takes an array. MPI takes a persistent exchange in flight for
/// inactive, hence for complete in calls that want all: those must wait for the last of them first.
class Exchanges {
 public:
  Exchanges(int count, const MPI_Request requests[])
      : exchanges_(size(count)), persistent_(size(count)), runs_(size(count)), outcomes_(size(count)) {
    find_exchanges(std::max(count, 0), requests, exchanges_.data());
    for (std::size_t i = 0; i < exchanges_.size(); ++i) {
      Exchange* exchange = exchanges_[i];
      if (exchange != nullptr && exchange->persistent != nullptr) persistent_[i] = exchange;
      if (exchange == nullptr) {
        others_ = others_ || requests[i] != MPI_REQUEST_NULL;
      } else if (exchange->inactive()) {
        continue;
      } else if (exchange->finished()) {
        outcomes_[i] = exchange->outcome;
        some_finished_ = true;
      } else {
        runs_[i] = exchange->run;
        ++unfinished_;
        if (exchange->persistent != nullptr) ++unfinished_persistent_;
      }
    }
  }

  /// Tells MPI about the exchanges that are done; returns whether there were any, in this call or before.
  bool finish() noexcept {
    for (std::size_t i = 0; i < exchanges_.size() && unfinished_ > 0; ++i) {
      if (runs_[i] == nullptr || !exchanges_[i]->ready()) continue;
      runs_[i] = nullptr;
      --unfinished_;
      if (exchanges_[i]->persistent != nullptr) --unfinished_persistent_;
      some_finished_ = true;
      exchanges_[i]->finish();
      outcomes_[i] = exchanges_[i]->outcome;
    }
    return some_finished_;
  }
  [[nodiscard]] bool all_finished() const noexcept { return unfinished_ == 0; }
  /// Whether MPI knows of all that is in flight.
  [[nodiscard]] bool known_to_mpi() const noexcept { return unfinished_persistent_ == 0; }
  /// The user gets to know of one, by a call that has not freed it.
  void told(int index) noexcept {
    if (Exchange* exchange = persistent_[static_cast<std::size_t>(index)]) exchange->told();
  }
  /// Whether the array has active requests that are not fab's.
  [[nodiscard]] bool others() const noexcept { return others_; }
  [[nodiscard]] bool waits_for_fab_alone() const noexcept { return unfinished_ > 0 && !others_; }
  [[nodiscard]] std::span<core::Run* const> runs() const noexcept { return runs_; }
  [[nodiscard]] const Outcome& outcome(int index) const { return outcomes_[static_cast<std::size_t>(index)]; }

 private:
  static std::size_t size(int count) noexcept { return static_cast<std::size_t>(std::max(count, 0)); }

  std::vector<Exchange*> exchanges_;   ///< as the requests; null: not fab's
  std::vector<Exchange*> persistent_;  ///< those among them that MPI does not free
  std::vector<core::Run*> runs_;       ///< null when finished
  std::vector<Outcome> outcomes_;
  std::size_t unfinished_ = 0;
  std::size_t unfinished_persistent_ = 0;
  bool some_finished_ = false;
  bool others_ = false;
};

/// Calls `attempt` until it returns true. Where only exchanges are waited for, the thread may sleep in the kernel.
template <class Attempt>
void wait_until(Exchanges& exchanges, Attempt&& attempt) {
  const Process& process = Process::instance();
  core::Driver driver(process.engine(), next_idle_hook());
  core::Watch watch(exchanges.runs(), process.context()->config().wait_timeout_s);
  int idle_turns = 0;
  while (!attempt()) {
    if (driver.step()) {
      idle_turns = 0;
      continue;
    }
    watch.check();
    if (attempt()) return;
    if (exchanges.waits_for_fab_alone()) {
      driver.rest();
      continue;
    }
    if (!exchanges.known_to_mpi()) progress_mpi();  // for the attempt did not
    advance_naming();
    if (++idle_turns > kSpins) ::sched_yield();
  }
}

/// Puts the outcomes of exchanges into the statuses of a call that completed `count` requests, `index(k)` being the
/// k-th.
template <class Index>
int settle(int code, int count, MPI_Status statuses[], Exchanges& exchanges, Index&& index) {
  for (int k = 0; k < count; ++k) exchanges.told(index(k));
  const auto outcome = [&](int k) -> const Outcome& { return exchanges.outcome(index(k)); };
  int first = 0;
  while (first < count && outcome(first).code == MPI_SUCCESS) ++first;
  if (first >= count || (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)) return code;
  if (statuses != MPI_STATUSES_IGNORE)
    for (int k = 0; k < count; ++k)
      if (code == MPI_SUCCESS || outcome(k).code != MPI_SUCCESS) statuses[k].MPI_ERROR = outcome(k).code;
  if (code == MPI_ERR_IN_STATUS) return code;  // MPI has called an error handler for its own requests
  return call_error_handler(outcome(first).attachment->comm, MPI_ERR_IN_STATUS);
}

int settle_all(int code, int count, MPI_Status statuses[], Exchanges& exchanges) {
  return settle(code, count, statuses, exchanges, [](int k) { return k; });
}

int settle_some(int code, int count, const int indices[], MPI_Status statuses[], Exchanges& exchanges) {
  return settle(code, count == MPI_UNDEFINED ? 0 : count, statuses, exchanges, [indices](int k) { return indices[k]; });
}

int settle_one(int code, int index, Exchanges& exchanges) {
  if (code != MPI_SUCCESS || index == MPI_UNDEFINED) return code;
  exchanges.told(index);
  return raise(exchanges.outcome(index));
}

/// MPI found nothing active in the array, but there is.
bool found_nothing(int code, int index, const Exchanges& exchanges) {
  return code == MPI_SUCCESS && index == MPI_UNDEFINED && !exchanges.known_to_mpi();
}

int wait_for_exchange(Exchange& exchange, MPI_Request* request, MPI_Status* status) {
  if (!exchange.finished()) {
    core::wait(*exchange.run, next_idle_hook());
    exchange.finish();
  }
  const Outcome outcome = exchange.outcome;
  exchange.told();
  const OwnReporting own;
  const int code = PMPI_Wait(request, status);
  return code != MPI_SUCCESS ? code : raise(outcome);
}

int wait_for_other(MPI_Request* request, MPI_Status* status) {
  if (!fab_needs_driving()) return PMPI_Wait(request, status);
  Exchanges none(0, nullptr);
  int code = MPI_SUCCESS;
  int flag = 0;
  wait_until(none, [&] {
    code = PMPI_Test(request, &flag, status);
    return flag != 0 || code != MPI_SUCCESS;
  });
  return code;
}

int wait_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
  Exchanges exchanges(count, requests);
  const OwnReporting own;
  int code = MPI_SUCCESS;
  int flag = 0;
  wait_until(exchanges, [&] {
    exchanges.finish();
    if (exchanges.waits_for_fab_alone() || !exchanges.known_to_mpi()) return false;
    code = PMPI_Testall(count, requests, &flag, statuses);
    return flag != 0 || code != MPI_SUCCESS;
  });
  return settle_all(code, count, statuses, exchanges);
}

int wait_any(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  Exchanges exchanges(count, requests);
  const OwnReporting own;
  int code = MPI_SUCCESS;
  int flag = 0;
  wait_until(exchanges, [&] {
    if (!exchanges.finish() && exchanges.waits_for_fab_alone()) return false;
    code = PMPI_Testany(count, requests, index, &flag, status);
    return (flag != 0 || code != MPI_SUCCESS) && !found_nothing(code, *index, exchanges);
  });
  return settle_one(code, *index, exchanges);
}

int wait_some(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  Exchanges exchanges(count, requests);
  const OwnReporting own;
  int code = MPI_SUCCESS;
  wait_until(exchanges, [&] {
    if (!exchanges.finish() && exchanges.waits_for_fab_alone()) return false;
    code = PMPI_Testsome(count, requests, completed, indices, statuses);
    return (*completed != 0 || code != MPI_SUCCESS) && !found_nothing(code, *completed, exchanges);
  });
  return settle_some(code, *completed, indices, statuses, exchanges);
}

/// One look at a single request: what must be known of it ahead of MPI's own look, in which MPI may forget it.
struct Look {
  Outcome outcome{};
  Exchange* persistent = nullptr;
  bool in_flight = false;  ///< and MPI does not know
};

Look look_at(MPI_Request request) {
  progress_once();
  Exchange* exchange = find_exchange(request);
  if (exchange == nullptr) return {};
  if (exchange->ready()) exchange->finish();
  Look look{.outcome = exchange->outcome};
  if (exchange->persistent == nullptr) return look;
  look.persistent = exchange;
  look.in_flight = exchange->run != nullptr;
  return look;
}

/// An exchange reports its errors through the error handler of its communicator.
int start(MPI_Request* request) {
  Exchange* exchange = find_exchange(*request);
  if (exchange == nullptr || exchange->persistent == nullptr) return PMPI_Start(request);
  return guarded("MPI_Start", exchange->attachment->comm, [&] { exchange->start(); });
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
    const Look look = look_at(*request);
    *flag = 0;
    if (look.in_flight) return MPI_SUCCESS;
    const OwnReporting own;
    const int code = PMPI_Test(request, flag, status);
    if (code != MPI_SUCCESS || *flag == 0) return code;
    if (look.persistent != nullptr) look.persistent->told();
    return raise(look.outcome);
  });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (fab_is_idle()) return PMPI_Request_get_status(request, flag, status);
  return completing("MPI_Request_get_status", [&] {
    const Look look = look_at(request);
    if (flag != nullptr) *flag = 0;
    if (look.in_flight && flag != nullptr) return MPI_SUCCESS;
    const OwnReporting own;
    return PMPI_Request_get_status(request, flag, status);
  });
}

int MPI_Request_free(MPI_Request* request) {
  if (request == nullptr || fab_is_idle()) return PMPI_Request_free(request);
  return completing("MPI_Request_free", [&] {
    Exchange* exchange = find_exchange(*request);
    if (exchange != nullptr && exchange->persistent != nullptr)
      forget(*exchange);
    else if (exchange != nullptr && !exchange->finished())
      exchange->abandon();
    const OwnReporting own;
    return PMPI_Request_free(request);
  });
}

int MPI_Start(MPI_Request* request) {
  if (request == nullptr || fab_is_idle()) return PMPI_Start(request);
  return completing("MPI_Start", [&] { return start(request); });
}

int MPI_Startall(int count, MPI_Request requests[]) {
  if (requests == nullptr || fab_is_idle()) return PMPI_Startall(count, requests);
  return completing("MPI_Startall", [&] {
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; ++i) code = start(&requests[i]);
    return code;
  });
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (requests == nullptr || fab_is_idle()) return PMPI_Waitall(count, requests, statuses);
  return completing("MPI_Waitall", [&] { return wait_all(count, requests, statuses); });
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (requests == nullptr || flag == nullptr || fab_is_idle()) return PMPI_Testall(count, requests, flag, statuses);
  return completing("MPI_Testall", [&] {
    progress_once();
    Exchanges exchanges(count, requests);
    exchanges.finish();
    *flag = 0;
    if (!exchanges.known_to_mpi()) return MPI_SUCCESS;
    const OwnReporting own;
    const int code = PMPI_Testall(count, requests, flag, statuses);
    return *flag == 0 ? code : settle_all(code, count, statuses, exchanges);
  });
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (requests == nullptr || index == nullptr || fab_is_idle()) return PMPI_Waitany(count, requests, index, status);
  return completing("MPI_Waitany", [&] { return wait_any(count, requests, index, status); });
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (requests == nullptr || index == nullptr || flag == nullptr || fab_is_idle())
    return PMPI_Testany(count, requests, index, flag, status);
  return completing("MPI_Testany", [&] {
    progress_once();
    Exchanges exchanges(count, requests);
    exchanges.finish();
    const OwnReporting own;
    const int code = PMPI_Testany(count, requests, index, flag, status);
    if (found_nothing(code, *index, exchanges)) *flag = 0;
    return *flag == 0 ? code : settle_one(code, *index, exchanges);
  });
}

int MPI_Waitsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (requests == nullptr || completed == nullptr || fab_is_idle())
    return PMPI_Waitsome(count, requests, completed, indices, statuses);
  return completing("MPI_Waitsome", [&] { return wait_some(count, requests, completed, indices, statuses); });
}

int MPI_Testsome(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[]) {
  if (requests == nullptr || completed == nullptr || fab_is_idle())
    return PMPI_Testsome(count, requests, completed, indices, statuses);
  return completing("MPI_Testsome", [&] {
    progress_once();
    Exchanges exchanges(count, requests);
    exchanges.finish();
    const OwnReporting own;
    const int code = PMPI_Testsome(count, requests, completed, indices, statuses);
    if (found_nothing(code, *completed, exchanges)) *completed = 0;
    return settle_some(code, *completed, indices, statuses, exchanges);
  });
}

}  // extern "C"
