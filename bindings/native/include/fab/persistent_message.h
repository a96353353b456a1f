// Persistent messages: described once and sent, or received, many times (MPI-4.1, section 3.9).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "fab/api.h"
#include "fab/buffer.h"
#include "fab/communicator.h"
#include "fab/layout.h"
#include "fab/message.h"
#include "fab/request.h"
#include "fab/result.h"
#include "fab/timed_waits.h"

namespace fab {

/// A message with its memory, its partner and its tag, or one message each way. Each start does what isend, irecv or
/// isendrecv does: messages match by the order of starts, and those of the partner need not be persistent. From the
/// second start on the caller's calls allocate nothing within a node, as long as a receive waits before its message
/// comes (persistent_sendrecv_replace: copies). The memory belongs to the message while it is active.
///
/// Move-only. A default-constructed or moved-from object only has active(). The destructor waits for an active message
/// and discards its failure. One thread at a time uses an object.
class FAB_API PersistentMessage : public detail::TimedWaits<PersistentMessage> {
 public:
  PersistentMessage() noexcept = default;  ///< no message

  /// Starts the message. Returns at once. Throws Error(invalid_argument) if it is active or the object holds no
  /// message, and the errors of isend, irecv and isendrecv.
  void start();
  /// start without exceptions.
  [[nodiscard]] Status try_start();
  /// Whether the message was started, and no wait and no test has found it complete since.
  [[nodiscard]] bool active() const noexcept { return request_.active(); }
  /// Returns when the message is complete; at once if it is not active. Throws the errors of Request::wait. After a
  /// failure it may be started again once the cause is removed.
  void wait() { request_.wait(); }
  /// wait without exceptions.
  [[nodiscard]] Status wait_status() { return request_.wait_status(); }
  /// Waits until the clock shows `time` at most. Returns whether the message is complete; if not, it stays active.
  /// Throws like wait, except for timed_out: the caller's limit replaces FAB_WAIT_TIMEOUT. wait_for and try_wait_for
  /// take a duration.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point time) { return request_.wait_until(time); }
  /// wait_until without exceptions.
  [[nodiscard]] Result<bool> try_wait_until(std::chrono::steady_clock::time_point time) {
    return request_.try_wait_until(time);
  }
  /// Makes some progress. True if the message is complete or not active. Throws like wait.
  [[nodiscard]] bool test() { return request_.test(); }
  /// test without exceptions.
  [[nodiscard]] Result<bool> try_test() { return request_.try_test(); }
  /// Cancels a receive that no message has matched yet, as Request::cancel does.
  void cancel() { request_.cancel(); }
  /// The message of the last receive, once that is complete.
  [[nodiscard]] const MessageInfo& message() const noexcept { return request_.message(); }

 private:
  friend struct Access;
  friend class Waitable;
  using Start = std::function<Request()>;
  explicit PersistentMessage(Start start) : start_(std::move(start)) {}

  Start start_;
  Request request_;
};

/// Describes a send. Nothing is sent before a start. Throws Error(invalid_rank) for a rank outside the communicator,
/// Error(invalid_argument) for a negative tag.
[[nodiscard]] FAB_API PersistentMessage persistent_send(const Communicator& communicator, const void* data,
                                                        const Layout& layout, Destination to,
                                                        SendMode mode = SendMode::standard);
/// Describes a receive into the first bytes of a layout. Throws as persistent_send.
[[nodiscard]] FAB_API PersistentMessage persistent_recv(const Communicator& communicator, void* data,
                                                        const Layout& layout, Source from = {});

/// Describes a sendrecv. Throws as persistent_send.
[[nodiscard]] FAB_API PersistentMessage persistent_sendrecv(const Communicator& communicator, const void* out,
                                                            const Layout& out_layout, Destination to, void* in,
                                                            const Layout& in_layout, Source from);
/// Describes a sendrecv_replace. Each start copies the memory, from which the copy is then sent. Throws as
/// persistent_send.
[[nodiscard]] FAB_API PersistentMessage persistent_sendrecv_replace(const Communicator& communicator, void* data,
                                                                    const Layout& layout, Destination to, Source from);

/// @{
/// For a buffer of trivially copyable elements (fab/buffer.h), as one message. Throws like the form with a layout.
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
template <SendBuffer Out, RecvBuffer In>
[[nodiscard]] PersistentMessage persistent_sendrecv(const Communicator& communicator, Out&& out, Destination to,
                                                    In&& in, Source from) {
  const auto sent = std::as_bytes(detail::elements_of(std::forward<Out>(out)));
  const auto received = std::as_writable_bytes(detail::elements_of(std::forward<In>(in)));
  return persistent_sendrecv(communicator, sent.data(), Layout::contiguous(sent.size()), to, received.data(),
                             Layout::contiguous(received.size()), from);
}
template <RecvBuffer Buffer>
[[nodiscard]] PersistentMessage persistent_sendrecv_replace(const Communicator& communicator, Buffer&& data,
                                                            Destination to, Source from) {
  const auto bytes = std::as_writable_bytes(detail::elements_of(std::forward<Buffer>(data)));
  return persistent_sendrecv_replace(communicator, bytes.data(), Layout::contiguous(bytes.size()), to, from);
}
/// @}

/// @{
/// A call above without exceptions. It returns the failure that the call throws.
template <SendBuffer Buffer>
[[nodiscard]] Result<PersistentMessage> try_persistent_send(const Communicator& communicator, Buffer&& data,
                                                            Destination to, SendMode mode = SendMode::standard) {
  return attempt([&] { return persistent_send(communicator, std::forward<Buffer>(data), to, mode); });
}
[[nodiscard]] inline Result<PersistentMessage> try_persistent_send(const Communicator& communicator, const void* data,
                                                                   const Layout& layout, Destination to,
                                                                   SendMode mode = SendMode::standard) {
  return attempt([&] { return persistent_send(communicator, data, layout, to, mode); });
}
template <RecvBuffer Buffer>
[[nodiscard]] Result<PersistentMessage> try_persistent_recv(const Communicator& communicator, Buffer&& data,
                                                            Source from = {}) {
  return attempt([&] { return persistent_recv(communicator, std::forward<Buffer>(data), from); });
}
[[nodiscard]] inline Result<PersistentMessage> try_persistent_recv(const Communicator& communicator, void* data,
                                                                   const Layout& layout, Source from = {}) {
  return attempt([&] { return persistent_recv(communicator, data, layout, from); });
}
template <SendBuffer Out, RecvBuffer In>
[[nodiscard]] Result<PersistentMessage> try_persistent_sendrecv(const Communicator& communicator, Out&& out,
                                                                Destination to, In&& in, Source from) {
  return attempt(
      [&] { return persistent_sendrecv(communicator, std::forward<Out>(out), to, std::forward<In>(in), from); });
}
[[nodiscard]] inline Result<PersistentMessage> try_persistent_sendrecv(const Communicator& communicator,
                                                                       const void* out, const Layout& out_layout,
                                                                       Destination to, void* in,
                                                                       const Layout& in_layout, Source from) {
  return attempt([&] { return persistent_sendrecv(communicator, out, out_layout, to, in, in_layout, from); });
}
template <RecvBuffer Buffer>
[[nodiscard]] Result<PersistentMessage> try_persistent_sendrecv_replace(const Communicator& communicator, Buffer&& data,
                                                                        Destination to, Source from) {
  return attempt([&] { return persistent_sendrecv_replace(communicator, std::forward<Buffer>(data), to, from); });
}
[[nodiscard]] inline Result<PersistentMessage> try_persistent_sendrecv_replace(const Communicator& communicator,
                                                                               void* data, const Layout& layout,
                                                                               Destination to, Source from) {
  return attempt([&] { return persistent_sendrecv_replace(communicator, data, layout, to, from); });
}
/// @}

}  // namespace fab
