// Completion callbacks and coroutines: requests that call a function or resume a coroutine when they are complete.
//
//     fab::Completions completions(context);
//     completions.when_done(fab::neighbor_xchg.start(ring, mine, theirs), [&](const fab::Status& status) { ... });
//     completions.run();                                              // until all are complete
// or in an event loop of your own:
//     pollfd events[] = {{completions.fd(), POLLIN, 0}, ...};
//     while (poll(events, ...) > 0) completions.run_ready();
// In a coroutine: co_await completions.done(fab::allreduce.start(world, sum, fab::ReduceOp::sum));
#pragma once

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "fab/api.h"
#include "fab/context.h"
#include "fab/request.h"
#include "fab/timed_waits.h"

namespace fab {

/// Requests of one context, each with a function to call when it is complete. Callbacks run on the thread that calls
/// run or run_ready, without any lock held. They may start operations and add requests, and must not throw. One thread
/// at a time uses the object. The destructor waits for the remaining requests and calls nothing.
class FAB_API Completions {
 public:
  /// It gets what Request::wait_status of the request returns.
  using Callback = std::function<void(const Status&)>;
  class Awaitable;

  /// `context` must outlive the object. Throws what Context::event_fd throws.
  explicit Completions(const Context& context);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  /// The descriptor of Context::event_fd: readable when run_ready may have something to do.
  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// A later run or run_ready calls `callback` with the status of the request, also if the request is already complete.
  void when_done(Request request, Callback callback);
  /// For co_await. The coroutine gets the result of Request::wait.
  [[nodiscard]] Awaitable done(Request request);

  /// Makes some progress and calls back for all complete requests. Returns how many there were. Does not wait.
  std::size_t run_ready();
  /// Waits until no request is left, including requests that callbacks add.
  void run();
  /// run until the clock shows `time` at most. Returns whether no request is left.
  bool run_until(std::chrono::steady_clock::time_point time);
  /// run_until with a duration from now.
  template <class Number, class Period>
  bool run_for(std::chrono::duration<Number, Period> time) {
    return run_until(detail::time_after(time));
  }
  /// The number of requests that are left.
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    Request request;
    Callback callback;
  };

  const Context& context_;
  int fd_;
  std::vector<Entry> entries_;
};

/// The awaitable of a request. The coroutine resumes inside run or run_ready.
class Completions::Awaitable {
 public:
  /// Completions::done makes one. `completions` must outlive the object.
  Awaitable(Completions& completions, Request request) noexcept
      : completions_(completions), request_(std::move(request)) {}

  /// Whether the coroutine need not be suspended, as the request is not active.
  [[nodiscard]] bool await_ready() const noexcept { return !request_.active(); }
  /// Has `waiting` resumed once the request is complete. The object must stay at its address until then.
  void await_suspend(std::coroutine_handle<> waiting) {
    completions_.when_done(std::move(request_), [this, waiting](const Status& status) {
      status_ = status;
      waiting.resume();
    });
  }
  /// Throws the failure of the request.
  void await_resume() const {
    if (!status_.ok()) throw Error(status_.errc(), status_.message);
  }

 private:
  Completions& completions_;
  Request request_;
  Status status_;
};

inline Completions::Awaitable Completions::done(Request request) { return {*this, std::move(request)}; }

}  // namespace fab
