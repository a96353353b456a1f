// Requests that call back, or resume a coroutine, when they are complete: for programs with an event loop.
//
//     fab::Completions completions(context);
//     completions.when_done(fab::neighbor_xchg.start(ring, mine, theirs), [&](const fab::Status& status) { ... });
//     completions.run();                                              // until all are complete; or in a loop of your
//     own: pollfd events[] = {{completions.fd(), POLLIN, 0}, ...}; while (poll(events, ...) > 0)
//     completions.run_ready();
//
// In a coroutine: co_await completions.done(fab::allreduce.start(world, sum, fab::ReduceOp::sum));
#pragma once

#include <coroutine>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "fab/context.h"
#include "fab/request.h"

namespace fab {

/// Holds requests of one context, and what is to be called when they are complete. Callbacks run on the thread that
/// calls run or run_ready, and without any lock: they may start operations and add requests, and must not throw. One
/// object is used by one thread. The destructor waits for what is left, and calls nothing.
class Completions {
 public:
  using Callback = std::function<void(const Status&)>;
  class Awaitable;

  /// The context outlives it. Throws what Context::event_fd throws.
  explicit Completions(const Context& context);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  /// Context::event_fd: readable when run_ready may have something to do.
  [[nodiscard]] int fd() const noexcept { return fd_; }
  /// Has `callback` called by a later run or run_ready, with how the request ended; also if it is complete already.
  void when_done(Request request, Callback callback);
  /// For co_await, whose result is that of Request::wait.
  [[nodiscard]] Awaitable done(Request request);

  /// Makes some progress and calls back for all requests that are complete; returns how many those are. Does not wait.
  std::size_t run_ready();
  /// Waits until no request is left, those that callbacks add included.
  void run();
  /// Requests that are left.
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

/// What a coroutine waits for. It goes on inside of run or run_ready.
class Completions::Awaitable {
 public:
  Awaitable(Completions& completions, Request request) noexcept
      : completions_(completions), request_(std::move(request)) {}

  [[nodiscard]] bool await_ready() const noexcept { return !request_.active(); }
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
