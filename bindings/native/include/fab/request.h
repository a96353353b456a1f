// A running exchange.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "fab/error.h"

namespace fab {

namespace core {
class Communicator;
class Run;
}  // namespace core

/// Stands for one exchange that was started. The buffers of the exchange belong to it until it is complete.
/// Safe from any thread, one thread at a time. Destroying a request that is not complete waits for it (errors are then
/// lost): nothing may write to buffers that are gone.
class Request {
 public:
  Request() noexcept = default;
  /// Takes over a run (for bindings).
  Request(std::shared_ptr<core::Communicator> communicator, core::Run& run) noexcept
      : communicator_(std::move(communicator)), run_(&run) {}
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// False for a default-constructed, moved-from, waited-for or detached request.
  [[nodiscard]] bool active() const noexcept { return run_ != nullptr; }

  /// Returns when the exchange is complete; at once if the request is not active. Throws fab::Error when it failed:
  /// truncated, mismatch, unreachable, transport, or timed_out after FAB_WAIT_TIMEOUT seconds without progress.
  void wait();
  /// The same without exceptions.
  [[nodiscard]] Status wait_status();
  /// Makes some progress; true when the exchange is complete or the request is not active. Throws like wait.
  bool test();
  /// Lets the exchange finish on its own. Its buffers must live until then, which the caller must know by other means.
  void detach() noexcept;

  /// Waits for all; throws the first failure, after all are complete.
  static void wait_all(std::span<Request> requests);
  /// Waits until one is complete and returns its index, that request being inactive afterwards. Throws its failure.
  /// Throws Error(invalid_argument) when none is active.
  static std::size_t wait_any(std::span<Request> requests);

  [[nodiscard]] core::Run* run() const noexcept { return run_; }

 private:
  Status release();

  std::shared_ptr<core::Communicator> communicator_;
  core::Run* run_ = nullptr;
};

}  // namespace fab
