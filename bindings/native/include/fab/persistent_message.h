// Messages that are described once and sent, or received, many times (MPI-4.1, section 3.9).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "fab/buffer.h"
#include "fab/communicator.h"
#include "fab/layout.h"
#include "fab/message.h"
#include "fab/request.h"
#include "fab/timed_waits.h"

namespace fab {

/// A message with its memory, its partner and its tag. Each start sends or receives it once, as isend and irecv do: it
/// matches by the order of starts, and its partner need not be persistent. From the first start on nothing is allocated
/// for it. The memory belongs to the message while it is active.
///
/// Move-only; a default-constructed or moved-from one only has active(). The destructor waits for what is active, its
/// failure is lost. One is used by one thread at a time.
class PersistentMessage : public detail::TimedWaits<PersistentMessage> {
 public:
  PersistentMessage() noexcept = default;

  /// Returns at once. Throws Error(invalid_argument) when it is active already or holds no message, and what isend and
  /// irecv throw.
  void start();
  /// The same without exceptions.
  [[nodiscard]] Status try_start();
  /// Started and not yet waited for, or tested with the result true.
  [[nodiscard]] bool active() const noexcept { return request_.active(); }
  /// Returns when it is complete; at once if it is not active. Throws what Request::wait throws; after a failure it may
  /// be started again once the cause is removed.
  void wait() { request_.wait(); }
  /// The same without exceptions.
  [[nodiscard]] Status wait_status() { return request_.wait_status(); }
  /// Waits until the clock shows that time at most: whether it is complete. If it is not, it stays active. Throws like
  /// wait, but for timed_out: the caller's limit stands for FAB_WAIT_TIMEOUT. wait_for and try_wait_for take a
  /// duration.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point time) { return request_.wait_until(time); }
  /// The same without exceptions.
  [[nodiscard]] Result<bool> try_wait_until(std::chrono::steady_clock::time_point time) {
    return request_.try_wait_until(time);
  }
  /// Makes some progress; true when it is complete or not active. Throws like wait.
  [[nodiscard]] bool test() { return request_.test(); }
  /// The same without exceptions.
  [[nodiscard]] Result<bool> try_test() { return request_.try_test(); }
  /// Takes back a receive that no message has matched yet, as Request::cancel does.
  void cancel() { request_.cancel(); }
  /// What the last receive took, once it is complete.
  [[nodiscard]] const MessageInfo& message() const noexcept { return request_.message(); }

 private:
  using Start = std::function<Request()>;
  explicit PersistentMessage(Start start) : start_(std::move(start)) {}
  friend PersistentMessage persistent_send(const Communicator& communicator, const void* data, const Layout& layout,
                                           Destination to, SendMode mode);
  friend PersistentMessage persistent_recv(const Communicator& communicator, void* data, const Layout& layout,
                                           Source from);

  Start start_;
  Request request_;
};

/// Describes a send. Nothing is sent before a start. Throws Error(invalid_rank) for a rank outside the communicator,
/// Error(invalid_argument) for a negative tag.
[[nodiscard]] PersistentMessage persistent_send(const Communicator& communicator, const void* data,
                                                const Layout& layout, Destination to,
                                                SendMode mode = SendMode::standard);
/// Describes a receive into the first bytes of a layout. Throws as persistent_send.
[[nodiscard]] PersistentMessage persistent_recv(const Communicator& communicator, void* data, const Layout& layout,
                                                Source from = {});

// Buffers of trivially copyable elements (fab/buffer.h).

template <SendBuffer Buffer>
[[nodiscard]] PersistentMessage persistent_send(const Communicator& communicator, Buffer&& data, Destination to,
                                                SendMode mode = SendMode::standard) {
  const auto bytes = std::as_bytes(detail::elements_of(std::forward<Buffer>(data)));
  return persistent_send(communicator, bytes.data(), Layout::contiguous(bytes.size()), to, mode);
}
template <RecvBuffer Buffer>
[[nodiscard]] PersistentMessage persistent_recv(const Communicator& communicator, Buffer&& data, Source from = {}) {
  const auto bytes = std::as_writable_bytes(detail::elements_of(std::forward<Buffer>(data)));
  return persistent_recv(communicator, bytes.data(), Layout::contiguous(bytes.size()), from);
}

}  // namespace fab
