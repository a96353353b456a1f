#include "bindings/mpi/requests/exchange.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/interception/next.h"
#include "bindings/mpi/requests/idle.h"
#include "core/run/wait.h"

namespace fab::mpi {

/// All exchanges there ever were; those not in use serve again. Grows to as many as are in use at a time.
class Pool {
 public:
  /// Never destroyed: MPI may call until the process ends.
  static Pool& instance() {
    static Pool& pool = *new Pool;
    return pool;
  }

  MPI_Request take(const char* call, Attachment& attachment, core::Run* run,
                   std::unique_ptr<core::Persistent> persistent, Kept kept, std::unique_ptr<StartObserver> observer) {
    Exchange* exchange = spare_.exchange(nullptr, std::memory_order_acquire);
    if (exchange == nullptr) exchange = &take_listed();
    exchange->call_ = call;
    exchange->run_ = run;
    exchange->attachment_ = attachment.shared_from_this();
    exchange->persistent_ = std::move(persistent);
    exchange->kept_ = std::move(kept);
    exchange->observer_ = std::move(observer);
    if (run != nullptr)
      count_active(1);
    else
      count_persistent(1);
    latest_.store(exchange, std::memory_order_release);
    return exchange->request_;
  }
  void give_back(Exchange& exchange) noexcept {
    exchange.observer_.reset();
    exchange.kept_.reset();
    exchange.attachment_.reset();
    Exchange* none = nullptr;
    if (spare_.compare_exchange_strong(none, &exchange, std::memory_order_release, std::memory_order_relaxed)) return;
    const std::lock_guard lock(mutex_);
    free_.push_back(&exchange);  // there is room: see add()
  }
  void count_active(int change) noexcept { active_.fetch_add(change, std::memory_order_relaxed); }
  void count_persistent(int change) noexcept { persistent_.fetch_add(change, std::memory_order_relaxed); }
  [[nodiscard]] bool any_persistent() const noexcept { return persistent_.load(std::memory_order_relaxed) > 0; }
  [[nodiscard]] bool any_active() const noexcept { return active_.load(std::memory_order_relaxed) > 0; }

  Exchange* find(MPI_Request request) {
    // A program waits most often for what it started last. The pool never lets go of an exchange before the end.
    if (Exchange* latest = latest_.load(std::memory_order_acquire); latest != nullptr && latest->request_ == request)
      return latest;
    const std::lock_guard lock(mutex_);
    const auto found = by_request_.find(request);
    return found == by_request_.end() ? nullptr : found->second;
  }

  void close() noexcept {
    const std::lock_guard lock(mutex_);
    latest_.store(nullptr);
    for (Exchange& exchange : exchanges_) {
      exchange.let_run_go();
      exchange.kept_.reset();
      exchange.attachment_.reset();
      if (next_pmpi.request_free(&exchange.request_) != MPI_SUCCESS) log_error("MPI_Finalize", "cannot free a request");
    }
    by_request_.clear();
    free_.clear();
    exchanges_.clear();
    spare_.store(nullptr);
  }

 private:
  Exchange& take_listed() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) add();
    Exchange& exchange = *free_.back();
    free_.pop_back();
    return exchange;
  }
  void add() {
    free_.reserve(exchanges_.size() + 1);
    MPI_Request request = MPI_REQUEST_NULL;
    require(PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request), "MPI_Recv_init");
    free_.push_back(&exchanges_.emplace_back(request));
    by_request_.emplace(request, free_.back());
  }

  std::mutex mutex_;
  std::deque<Exchange> exchanges_;
  std::vector<Exchange*> free_;
  std::unordered_map<MPI_Request, Exchange*> by_request_;
  std::atomic<Exchange*> latest_{nullptr};
  std::atomic<Exchange*> spare_{nullptr};  ///< one more that is free, to be had without the mutex
  std::atomic<int> active_{0};             ///< runs that are in flight, or that the user does not know the end of
  std::atomic<int> persistent_{0};         ///< handles
};

namespace {

MPI_Status empty_status;

}  // namespace

// The attachment may be the last owner of its communicator: it goes after the engine's lock.
void Exchange::let_run_go() noexcept {
  if (persistent_ != nullptr) {
    persistent_.reset();
    Pool::instance().count_persistent(-1);
  } else if (run_ != nullptr) {
    const core::Lock lock(attachment_->core->engine());
    run_->let_go();
  }
  if (run_ != nullptr) Pool::instance().count_active(-1);
  run_ = nullptr;
}

Outcome Exchange::outcome(const Status& status) {
  if (status.ok()) return {};
  note_failure();
  log_error(call_, status.message);
  return {error_class_of(status.errc()), attachment_};
}

Outcome Exchange::told(const Status& status, MPI_Request& handle) {
  Outcome told = outcome(status);
  run_ = nullptr;
  Pool::instance().count_active(-1);
  if (persistent()) {
    persistent_->end();
  } else {
    handle = MPI_REQUEST_NULL;
    Pool::instance().give_back(*this);
  }
  return told;
}

Outcome Exchange::end(MPI_Request& handle) {
  run_->over(false);
  if (persistent()) return told(run_->status(), handle);
  const Status status = run_->status();
  {
    const core::Lock lock(attachment_->core->engine());
    run_->let_go();
  }
  return told(status, handle);
}

Outcome Exchange::wait(MPI_Request& handle) {
  if (!persistent()) return told(core::complete(*run_, next_idle_hook()), handle);
  core::finish(*run_, next_idle_hook());
  return told(run_->status(), handle);
}

// MPI forbids to free the request of a collective that is in flight (MPI-4.1, 6.12), and only those keep anything:
// where a program does it all the same, what its exchange still needs stays.
void Exchange::abandon(MPI_Request& handle) noexcept {
  if (kept_ != nullptr && run_ != nullptr && !run_->done()) static_cast<void>(new Kept(std::move(kept_)));
  let_run_go();
  handle = MPI_REQUEST_NULL;
  Pool::instance().give_back(*this);
}

void Exchange::start() {
  if (observer_ == nullptr) return start_run();
  const auto begin = std::chrono::steady_clock::now();
  start_run();
  observer_->started(std::chrono::steady_clock::now() - begin);
}

void Exchange::start_run() {
  {
    const core::Lock lock(persistent_->engine());
    persistent_->start();
  }
  persistent_->engine().hand_over_progress();
  run_ = &persistent_->run();
  Pool::instance().count_active(1);
}

MPI_Request make_request(const char* call, Attachment& attachment, core::Run& run, Kept kept) {
  return Pool::instance().take(call, attachment, &run, nullptr, std::move(kept), nullptr);
}

MPI_Request make_request(const char* call, Attachment& attachment, core::Persistent persistent, Kept kept,
                         std::unique_ptr<StartObserver> observer) {
  return Pool::instance().take(call, attachment, nullptr, std::make_unique<core::Persistent>(std::move(persistent)),
                               std::move(kept), std::move(observer));
}

bool exchanges_exist() noexcept { return Pool::instance().any_active() || Pool::instance().any_persistent(); }

bool exchanges_are_active() noexcept { return Pool::instance().any_active(); }

Exchange* find_exchange(MPI_Request request) { return Pool::instance().find(request); }

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

void close_exchanges() noexcept { Pool::instance().close(); }

}  // namespace fab::mpi
