// Requests: operations that were started and may not be complete yet.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fab/api.h"
#include "fab/error.h"
#include "fab/message.h"
#include "fab/result.h"
#include "fab/timed_waits.h"

namespace fab {

namespace core {
class Communicator;
class Pending;
}  // namespace core

struct Access;
class Completions;
class Waitable;

/// One exchange or message that was started. Its buffers belong to it until it is complete. Any thread may use a
/// request, one thread at a time. The destructor waits for a request that is not complete and discards its failure:
/// otherwise fab might write to buffers that no longer exist.
class FAB_API Request : public detail::TimedWaits<Request> {
 public:
  Request() noexcept = default;       ///< not active
  Request(Request&& other) noexcept;  ///< `other` is not active afterwards
  /// Waits first for this request, if it is not complete, and discards its failure.
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// False for a default-constructed, moved-from, waited-for or detached request.
  [[nodiscard]] bool active() const noexcept { return pending_ != nullptr; }

  /// Returns when the operation is complete; at once if the request is not active. Throws fab::Error if it failed:
  /// truncated, mismatch, unreachable, transport, or timed_out after FAB_WAIT_TIMEOUT seconds without progress.
  void wait();
  /// wait without exceptions.
  [[nodiscard]] Status wait_status();
  /// Waits until the clock shows `time` at most. Returns whether the operation is complete; if not, the request stays
  /// active. Throws like wait, except for timed_out: the caller's limit replaces FAB_WAIT_TIMEOUT. wait_for and
  /// try_wait_for take a duration.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point time);
  /// wait_until without exceptions.
  [[nodiscard]] Result<bool> try_wait_until(std::chrono::steady_clock::time_point time);
  /// Makes some progress. True if the operation is complete or the request is not active. Throws like wait.
  bool test();
  /// test without exceptions.
  [[nodiscard]] Result<bool> try_test();
  /// Whether test would return true, as far as is known without making progress.
  [[nodiscard]] bool done() const noexcept;
  /// Lets the operation complete on its own. Its buffers must live until then; the caller must know of that by other
  /// means.
  void detach() noexcept;
  /// Cancels a receive or probe that no message has matched yet (MPI-4.1, 3.8.4). Waiting for it then throws
  /// Error(cancelled). Other operations, and matched ones, go on. The request must still be waited for.
  void cancel();
  /// The message of a complete receive or probe; otherwise {kNoRank, kAnyTag, 0}.
  [[nodiscard]] const MessageInfo& message() const noexcept { return message_; }

  /// Waits until all are complete, and then throws the first failure.
  static void wait_all(std::span<Request> requests);
  /// Waits until one is complete and returns its index. That request is inactive afterwards. Throws its failure. Throws
  /// Error(invalid_argument) if no request is active.
  static std::size_t wait_any(std::span<Request> requests);
  /// wait_all until the clock shows `time` at most. Returns whether all are complete; if not, those that were active
  /// stay so. Throws like wait_all, except for timed_out.
  [[nodiscard]] static bool wait_all_until(std::span<Request> requests, std::chrono::steady_clock::time_point time);
  /// wait_any until the clock shows `time` at most. Returns no index if none is complete by then. Throws like wait_any,
  /// except for timed_out.
  [[nodiscard]] static std::optional<std::size_t> wait_any_until(std::span<Request> requests,
                                                                 std::chrono::steady_clock::time_point time);
  /// Waits until one is complete and returns the indices of all complete requests, which are inactive afterwards.
  /// Throws the first failure among them. Throws Error(invalid_argument) if no request is active.
  static std::vector<std::size_t> wait_some(std::span<Request> requests);
  /// Makes some progress. True if all are complete or not active; they are inactive afterwards, and the first failure
  /// is thrown.
  [[nodiscard]] static bool test_all(std::span<Request> requests);
  /// Makes some progress. Returns the index of a complete request, which is inactive afterwards. Throws like wait_any.
  [[nodiscard]] static std::optional<std::size_t> test_any(std::span<Request> requests);
  /// Makes some progress. Returns and throws like wait_some, but the list may be empty.
  [[nodiscard]] static std::vector<std::size_t> test_some(std::span<Request> requests);

  /// @{
  /// A call for several requests with a duration from now instead of a point in time, or without exceptions: try_ forms
  /// return the failure that the call throws.
  template <class Number, class Period>
  [[nodiscard]] static bool wait_all_for(std::span<Request> requests, std::chrono::duration<Number, Period> time) {
    return wait_all_until(requests, detail::time_after(time));
  }
  template <class Number, class Period>
  [[nodiscard]] static std::optional<std::size_t> wait_any_for(std::span<Request> requests,
                                                               std::chrono::duration<Number, Period> time) {
    return wait_any_until(requests, detail::time_after(time));
  }
  [[nodiscard]] static Status try_wait_all(std::span<Request> requests) {
    return attempt([&] { wait_all(requests); });
  }
  [[nodiscard]] static Result<bool> try_wait_all_until(std::span<Request> requests,
                                                       std::chrono::steady_clock::time_point time) {
    return attempt([&] { return wait_all_until(requests, time); });
  }
  template <class Number, class Period>
  [[nodiscard]] static Result<bool> try_wait_all_for(std::span<Request> requests,
                                                     std::chrono::duration<Number, Period> time) {
    return try_wait_all_until(requests, detail::time_after(time));
  }
  [[nodiscard]] static Result<std::size_t> try_wait_any(std::span<Request> requests) {
    return attempt([&] { return wait_any(requests); });
  }
  [[nodiscard]] static Result<std::optional<std::size_t>> try_wait_any_until(
      std::span<Request> requests, std::chrono::steady_clock::time_point time) {
    return attempt([&] { return wait_any_until(requests, time); });
  }
  template <class Number, class Period>
  [[nodiscard]] static Result<std::optional<std::size_t>> try_wait_any_for(std::span<Request> requests,
                                                                           std::chrono::duration<Number, Period> time) {
    return try_wait_any_until(requests, detail::time_after(time));
  }
  [[nodiscard]] static Result<std::vector<std::size_t>> try_wait_some(std::span<Request> requests) {
    return attempt([&] { return wait_some(requests); });
  }
  [[nodiscard]] static Result<bool> try_test_all(std::span<Request> requests) {
    return attempt([&] { return test_all(requests); });
  }
  [[nodiscard]] static Result<std::optional<std::size_t>> try_test_any(std::span<Request> requests) {
    return attempt([&] { return test_any(requests); });
  }
  [[nodiscard]] static Result<std::vector<std::size_t>> try_test_some(std::span<Request> requests) {
    return attempt([&] { return test_some(requests); });
  }
  /// @}

 private:
  friend struct Access;
  friend class Completions;
  friend class Waitable;
  Request(std::shared_ptr<core::Communicator> communicator, core::Pending& pending) noexcept
      : communicator_(std::move(communicator)), pending_(&pending) {}
  /// Precondition: active.
  void make_progress();
  Status release();
  Result<bool> ended();
  static std::vector<core::Pending*> pending(std::span<Request> requests, const char* call);
  static std::vector<std::size_t> end_complete(std::span<Request> requests);

  std::shared_ptr<core::Communicator> communicator_;
  core::Pending* pending_ = nullptr;
  MessageInfo message_;
};

}  // namespace fab
