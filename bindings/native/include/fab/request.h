// What was started and is not known to be complete.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

/// Stands for one exchange or message that was started. Its buffers belong to it until it is complete.
/// Safe from any thread, one thread at a time. Destroying a request that is not complete waits for it (errors are then
/// lost): nothing may write to buffers that are gone.
class Request : public detail::TimedWaits<Request> {
 public:
  Request() noexcept = default;
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// False for a default-constructed, moved-from, waited-for or detached request.
  [[nodiscard]] bool active() const noexcept { return pending_ != nullptr; }

  /// Returns when the exchange is complete; at once if the request is not active. Throws fab::Error when it failed:
  /// truncated, mismatch, unreachable, transport, or timed_out after FAB_WAIT_TIMEOUT seconds without progress.
  void wait();
  /// The same without exceptions.
  [[nodiscard]] Status wait_status();
  /// Waits until the clock shows that time at most: whether it is complete. If it is not, it stays active. Throws like
  /// wait, but for timed_out: the caller's limit stands for FAB_WAIT_TIMEOUT. wait_for and try_wait_for take a
  /// duration.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point time);
  /// The same without exceptions.
  [[nodiscard]] Result<bool> try_wait_until(std::chrono::steady_clock::time_point time);
  /// Makes some progress; true when the exchange is complete or the request is not active. Throws like wait.
  bool test();
  /// The same without exceptions.
  [[nodiscard]] Result<bool> try_test();
  /// Whether test would be true, as far as is known without making progress.
  [[nodiscard]] bool done() const noexcept;
  /// Lets it finish on its own. Its buffers must live until then, which the caller must know by other means.
  void detach() noexcept;
  /// Takes back a receive or probe that no message has matched yet (MPI-4.1, 3.8.4); waiting for it then throws
  /// Error(cancelled). Others, and what has matched, go on. The request still has to be waited for.
  void cancel();
  /// What a receive took or a probe found, once it is complete; otherwise nothing: {kNoRank, kAnyTag, 0}.
  [[nodiscard]] const MessageInfo& message() const noexcept { return message_; }

  /// Waits for all; throws the first failure, after all are complete.
  static void wait_all(std::span<Request> requests);
  /// Waits until one is complete and returns its index, that request being inactive afterwards. Throws its failure.
  /// Throws Error(invalid_argument) when none is active.
  static std::size_t wait_any(std::span<Request> requests);
  /// Waits until one is complete and returns the indices of all that are, which are inactive afterwards. Throws the
  /// first failure among them. Throws Error(invalid_argument) when none is active.
  static std::vector<std::size_t> wait_some(std::span<Request> requests);
  /// Makes some progress; true when all are complete (or not active), which are inactive then. Throws the first failure
  /// then.
  [[nodiscard]] static bool test_all(std::span<Request> requests);
  /// Makes some progress; the index of one that is complete, which is inactive afterwards. Throws as wait_any.
  [[nodiscard]] static std::optional<std::size_t> test_any(std::span<Request> requests);
  /// Makes some progress; as wait_some, but perhaps none.
  [[nodiscard]] static std::vector<std::size_t> test_some(std::span<Request> requests);

 private:
  friend struct Access;
  friend class Completions;
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
