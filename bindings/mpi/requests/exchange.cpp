#include "bindings/mpi/requests/exchange.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/interception/next.h"
#include "bindings/mpi/requests/idle.h"
#include "bindings/mpi/requests/room_for_fortran.h"
#include "core/base/slots.h"
#include "core/run/wait.h"

namespace fab::mpi {

namespace {

/// All exchanges there ever were, in the order of core::Slots; the one that ended last is to be had without the mutex.
class Exchanges {
 public:
  /// Never destroyed: MPI may call until the process ends.
  static Exchanges& all() {
    static Exchanges& exchanges = *new Exchanges;
    return exchanges;
  }

  /// Returns the request of the exchange that now serves this. Throws Failure.
  MPI_Request take(Exchange::Use&& use) {
    Exchange* exchange = spare_.exchange(nullptr, std::memory_order_acquire);
    if (exchange == nullptr) exchange = &take_listed();
    (use.run != nullptr ? active_ : persistent_).fetch_add(1, std::memory_order_relaxed);
    exchange->serve(std::move(use));
    latest_.store(exchange, std::memory_order_release);
    return exchange->request();
  }
  void give_back(Exchange& exchange) noexcept {
    exchange.clear();
    Exchange* none = nullptr;
    if (spare_.compare_exchange_strong(none, &exchange, std::memory_order_release, std::memory_order_relaxed)) return;
    const std::lock_guard lock(mutex_);
    slots_.give_back(exchange);
  }
  void count_active(int change) noexcept { active_.fetch_add(change, std::memory_order_relaxed); }
  void one_persistent_less() noexcept { persistent_.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] bool any_persistent() const noexcept { return persistent_.load(std::memory_order_relaxed) > 0; }
  [[nodiscard]] bool any_active() const noexcept { return active_.load(std::memory_order_relaxed) > 0; }

  Exchange* find(MPI_Request request) {
    // A program waits most often for what it started last. No exchange ends before close().
    if (Exchange* latest = latest_.load(std::memory_order_acquire); latest != nullptr && latest->request() == request)
      return latest;
    const std::lock_guard lock(mutex_);
    const auto found = by_request_.find(request);
    return found == by_request_.end() ? nullptr : found->second;
  }

  void close() noexcept {
    const std::lock_guard lock(mutex_);
    latest_.store(nullptr);
    for (Exchange& exchange : slots_) {
      exchange.clear();
      MPI_Request request = exchange.request();
      if (next_pmpi.request_free(&request) != MPI_SUCCESS) log_error("MPI_Finalize", "cannot free a request");
    }
    by_request_.clear();
    slots_.clear();
    spare_.store(nullptr);
  }

 private:
  Exchange& take_listed() {
    const std::lock_guard lock(mutex_);
    const bool fresh = slots_.all_in_use();
    Exchange& exchange = slots_.take();
    if (fresh) by_request_.emplace(exchange.request(), &exchange);
    return exchange;
  }

  std::mutex mutex_;
  core::Slots<Exchange> slots_;
  std::unordered_map<MPI_Request, Exchange*> by_request_;
  std::atomic<Exchange*> latest_{nullptr};
  std::atomic<Exchange*> spare_{nullptr};  ///< not in use, and not free among the slots
  std::atomic<int> active_{0};             ///< runs that are in flight, or that the user does not know the end of
  std::atomic<int> persistent_{0};         ///< handles
};

MPI_Status empty_status;

}  // namespace

Exchange::Exchange() { require(make_inactive_request(&request_), "making a request"); }

// The attachment may be the last owner of its communicator: it goes after the engine's lock.
void Exchange::let_run_go() noexcept {
  if (persistent()) {
    use_.persistent.reset();
    Exchanges::all().one_persistent_less();
  } else if (use_.run != nullptr) {
    const core::Lock lock(use_.attachment->core->engine());
    use_.run->let_go();
  }
  if (use_.run != nullptr) Exchanges::all().count_active(-1);
  use_.run = nullptr;
}

void Exchange::clear() noexcept {
  let_run_go();
  use_.observer.reset();
  use_.kept.reset();
  use_.attachment.reset();
}

Outcome Exchange::outcome(const Status& status) {
  if (status.ok()) return {};
  note_failure();
  log_error(use_.call, status.message);
  return {error_class_of(status.errc()), use_.attachment};
}

Outcome Exchange::told(const Status& status, MPI_Request& handle) {
  Outcome told = outcome(status);
  use_.run = nullptr;
  Exchanges::all().count_active(-1);
  if (persistent()) {
    use_.persistent->end();
  } else {
    handle = MPI_REQUEST_NULL;
    Exchanges::all().give_back(*this);
  }
  return told;
}

Outcome Exchange::end(MPI_Request& handle) {
  core::Run& run = *use_.run;
  run.over(false);
  if (persistent()) return told(run.status(), handle);
  const Status status = run.status();
  {
    const core::Lock lock(use_.attachment->core->engine());
    run.let_go();
  }
  return told(status, handle);
}

Outcome Exchange::wait(MPI_Request& handle) {
  core::Run& run = *use_.run;
  if (!persistent()) return told(core::complete(run, next_idle_hook()), handle);
  core::finish(run, next_idle_hook());
  return told(run.status(), handle);
}

// MPI forbids to free the request of a collective that is in flight (MPI-4.1, 6.12), and only those keep anything:
// where a program does it all the same, what its exchange still needs stays.
void Exchange::abandon(MPI_Request& handle) noexcept {
  if (use_.kept != nullptr && run() != nullptr && !run()->done()) static_cast<void>(new Kept(std::move(use_.kept)));
  handle = MPI_REQUEST_NULL;
  Exchanges::all().give_back(*this);
}

void Exchange::start() {
  if (use_.observer == nullptr) return start_run();
  const auto begin = std::chrono::steady_clock::now();
  start_run();
  use_.observer->started(std::chrono::steady_clock::now() - begin);
}

void Exchange::start_run() {
  core::Persistent& persistent = *use_.persistent;
  {
    const core::Lock lock(persistent.engine());
    persistent.start();
  }
  persistent.engine().hand_over_progress();
  use_.run = &persistent.run();
  Exchanges::all().count_active(1);
}

MPI_Request make_request(const char* call, Attachment& attachment, core::Run& run, Kept kept) {
  return Exchanges::all().take(
      {.call = call, .run = &run, .attachment = attachment.shared_from_this(), .kept = std::move(kept)});
}

MPI_Request make_request(const char* call, Attachment& attachment, core::Persistent persistent, Kept kept,
                         std::unique_ptr<StartObserver> observer) {
  return Exchanges::all().take({.call = call,
                                .attachment = attachment.shared_from_this(),
                                .persistent = std::make_unique<core::Persistent>(std::move(persistent)),
                                .kept = std::move(kept),
                                .observer = std::move(observer)});
}

bool exchanges_exist() noexcept { return Exchanges::all().any_active() || Exchanges::all().any_persistent(); }

bool exchanges_are_active() noexcept { return Exchanges::all().any_active(); }

Exchange* find_exchange(MPI_Request request) { return Exchanges::all().find(request); }

void make_empty(MPI_Status* status) noexcept {
  if (status == MPI_STATUS_IGNORE) return;
  const int error = status->MPI_ERROR;
  *status = empty_status;
  status->MPI_ERROR = error;
}

void open_exchanges() {
  MPI_Request none = MPI_REQUEST_NULL;
  require(next_pmpi.wait(&none, &empty_status), "MPI_Wait");
}

void close_exchanges() noexcept { Exchanges::all().close(); }

}  // namespace fab::mpi
