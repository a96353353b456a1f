// Point-to-point messages, for codes whose pattern is not known in advance (MPI-4.1, chapter 3; the calls and modes of
// Lang, Distributed-Memory Programming Models II, 2015). If the pattern is known, exchanges (fab/neighbor.h) are
// faster.
//
// Common to all calls
//   - A message matches a receive on the same communicator by its source and tag. The matching receive that was
//     started first takes it. Messages between two ranks on one communicator do not overtake each other (MPI-4.1,
//     3.5). A message never matches an exchange.
//   - A receive may have room for more than arrives. If a message is larger than the room, nothing is written, and the
//     receive fails with Errc::truncated. The send succeeds.
//   - The `i` forms return at once. A progress thread completes them while the caller computes. Request::message()
//     gives source, tag and size of a received message.
//   - A rank may send to itself. A standard send of a long message to itself waits for its receive, like any other.
//   - Throws Error(invalid_rank) for a rank outside the communicator, Error(invalid_argument) for a tag that is
//     negative, Error(no_resources) if buffered messages would take more than 64 MiB, and the errors of Request::wait.
//     If a rank is lost, every operation that depends on it fails with Errc::unreachable or Errc::transport. So do
//     receives from kAnySource on each communicator that the rank belongs to.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "fab/api.h"
#include "fab/buffer.h"
#include "fab/communicator.h"
#include "fab/layout.h"
#include "fab/message.h"
#include "fab/request.h"
#include "fab/result.h"

namespace fab {

/// Sends a message. Returns when the memory may be written again; SendMode defines when that is.
FAB_API void send(const Communicator& communicator, std::span<const std::byte> data, Destination to,
                  SendMode mode = SendMode::standard);
/// Sends the bytes of a layout, in the order in which they travel.
FAB_API void send(const Communicator& communicator, const void* data, const Layout& layout, Destination to,
                  SendMode mode = SendMode::standard);
/// @{
/// Starts a send. Returns at once. The request is complete when the memory may be written again.
[[nodiscard]] FAB_API Request isend(const Communicator& communicator, std::span<const std::byte> data, Destination to,
                                    SendMode mode = SendMode::standard);
[[nodiscard]] FAB_API Request isend(const Communicator& communicator, const void* data, const Layout& layout,
                                    Destination to, SendMode mode = SendMode::standard);
/// @}

/// Receives a message. Returns its source, tag and size when it has arrived.
FAB_API MessageInfo recv(const Communicator& communicator, std::span<std::byte> data, Source from = {});
/// Receives into the first bytes of a layout, in the order in which they travel.
FAB_API MessageInfo recv(const Communicator& communicator, void* data, const Layout& layout, Source from = {});
/// @{
/// Starts a receive. Returns at once. The request is complete when the message has arrived.
[[nodiscard]] FAB_API Request irecv(const Communicator& communicator, std::span<std::byte> data, Source from = {});
[[nodiscard]] FAB_API Request irecv(const Communicator& communicator, void* data, const Layout& layout,
                                    Source from = {});
/// @}

/// Returns when there is a message that a receive with the same arguments would take. Does not take it.
[[nodiscard]] FAB_API MessageInfo probe(const Communicator& communicator, Source from = {});
/// Makes some progress, and returns such a message if there is one.
[[nodiscard]] FAB_API std::optional<MessageInfo> iprobe(const Communicator& communicator, Source from = {});

/// @{
/// Sends and receives at the same time, so rings and chains of such calls do not deadlock. The memories must not
/// overlap. Returns source, tag and size of the received message.
FAB_API MessageInfo sendrecv(const Communicator& communicator, std::span<const std::byte> out, Destination to,
                             std::span<std::byte> in, Source from);
FAB_API MessageInfo sendrecv(const Communicator& communicator, const void* out, const Layout& out_layout,
                             Destination to, void* in, const Layout& in_layout, Source from);
/// @}
/// @{
/// Sends and receives in one memory: the received message replaces the sent one, as far as it reaches.
FAB_API MessageInfo sendrecv_replace(const Communicator& communicator, std::span<std::byte> data, Destination to,
                                     Source from);
FAB_API MessageInfo sendrecv_replace(const Communicator& communicator, void* data, const Layout& layout, Destination to,
                                     Source from);
/// @}

/// sendrecv that returns at once (MPI-4.1, 3.10). The request is complete once both messages are; Request::message() is
/// the one received. If the send fails, the receive is cancelled, and the request has the send's failure.
[[nodiscard]] FAB_API Request isendrecv(const Communicator& communicator, const void* out, const Layout& out_layout,
                                        Destination to, void* in, const Layout& in_layout, Source from);
/// sendrecv_replace that returns at once. It sends a copy of the memory.
[[nodiscard]] FAB_API Request isendrecv_replace(const Communicator& communicator, void* data, const Layout& layout,
                                                Destination to, Source from);

/// @{
/// The call of that name on the bytes of buffers of trivially copyable elements (fab/buffer.h).
template <SendBuffer Buffer>
void send(const Communicator& communicator, Buffer&& data, Destination to, SendMode mode = SendMode::standard) {
  send(communicator, std::as_bytes(detail::elements_of(std::forward<Buffer>(data))), to, mode);
}
template <SendBuffer Buffer>
[[nodiscard]] Request isend(const Communicator& communicator, Buffer&& data, Destination to,
                            SendMode mode = SendMode::standard) {
  return isend(communicator, std::as_bytes(detail::elements_of(std::forward<Buffer>(data))), to, mode);
}

template <RecvBuffer Buffer>
MessageInfo recv(const Communicator& communicator, Buffer&& data, Source from = {}) {
  return recv(communicator, std::as_writable_bytes(detail::elements_of(std::forward<Buffer>(data))), from);
}
template <RecvBuffer Buffer>
[[nodiscard]] Request irecv(const Communicator& communicator, Buffer&& data, Source from = {}) {
  return irecv(communicator, std::as_writable_bytes(detail::elements_of(std::forward<Buffer>(data))), from);
}

template <SendBuffer Out, RecvBuffer In>
MessageInfo sendrecv(const Communicator& communicator, Out&& out, Destination to, In&& in, Source from) {
  return sendrecv(communicator, std::as_bytes(detail::elements_of(std::forward<Out>(out))), to,
                  std::as_writable_bytes(detail::elements_of(std::forward<In>(in))), from);
}
template <RecvBuffer Buffer>
MessageInfo sendrecv_replace(const Communicator& communicator, Buffer&& data, Destination to, Source from) {
  return sendrecv_replace(communicator, std::as_writable_bytes(detail::elements_of(std::forward<Buffer>(data))), to,
                          from);
}
template <SendBuffer Out, RecvBuffer In>
[[nodiscard]] Request isendrecv(const Communicator& communicator, Out&& out, Destination to, In&& in, Source from) {
  const auto sent = std::as_bytes(detail::elements_of(std::forward<Out>(out)));
  const auto received = std::as_writable_bytes(detail::elements_of(std::forward<In>(in)));
  return isendrecv(communicator, sent.data(), Layout::contiguous(sent.size()), to, received.data(),
                   Layout::contiguous(received.size()), from);
}
template <RecvBuffer Buffer>
[[nodiscard]] Request isendrecv_replace(const Communicator& communicator, Buffer&& data, Destination to, Source from) {
  const auto bytes = std::as_writable_bytes(detail::elements_of(std::forward<Buffer>(data)));
  return isendrecv_replace(communicator, bytes.data(), Layout::contiguous(bytes.size()), to, from);
}
/// @}

/// @{
/// A call above without exceptions. It returns the failure that the call throws.
template <SendBuffer Buffer>
[[nodiscard]] Status try_send(const Communicator& communicator, Buffer&& data, Destination to,
                              SendMode mode = SendMode::standard) {
  return attempt([&] { send(communicator, std::forward<Buffer>(data), to, mode); });
}
[[nodiscard]] inline Status try_send(const Communicator& communicator, const void* data, const Layout& layout,
                                     Destination to, SendMode mode = SendMode::standard) {
  return attempt([&] { send(communicator, data, layout, to, mode); });
}
template <SendBuffer Buffer>
[[nodiscard]] Result<Request> try_isend(const Communicator& communicator, Buffer&& data, Destination to,
                                        SendMode mode = SendMode::standard) {
  return attempt([&] { return isend(communicator, std::forward<Buffer>(data), to, mode); });
}
[[nodiscard]] inline Result<Request> try_isend(const Communicator& communicator, const void* data, const Layout& layout,
                                               Destination to, SendMode mode = SendMode::standard) {
  return attempt([&] { return isend(communicator, data, layout, to, mode); });
}

template <RecvBuffer Buffer>
[[nodiscard]] Result<MessageInfo> try_recv(const Communicator& communicator, Buffer&& data, Source from = {}) {
  return attempt([&] { return recv(communicator, std::forward<Buffer>(data), from); });
}
[[nodiscard]] inline Result<MessageInfo> try_recv(const Communicator& communicator, void* data, const Layout& layout,
                                                  Source from = {}) {
  return attempt([&] { return recv(communicator, data, layout, from); });
}
template <RecvBuffer Buffer>
[[nodiscard]] Result<Request> try_irecv(const Communicator& communicator, Buffer&& data, Source from = {}) {
  return attempt([&] { return irecv(communicator, std::forward<Buffer>(data), from); });
}
[[nodiscard]] inline Result<Request> try_irecv(const Communicator& communicator, void* data, const Layout& layout,
                                               Source from = {}) {
  return attempt([&] { return irecv(communicator, data, layout, from); });
}

[[nodiscard]] inline Result<MessageInfo> try_probe(const Communicator& communicator, Source from = {}) {
  return attempt([&] { return probe(communicator, from); });
}
[[nodiscard]] inline Result<std::optional<MessageInfo>> try_iprobe(const Communicator& communicator, Source from = {}) {
  return attempt([&] { return iprobe(communicator, from); });
}

template <SendBuffer Out, RecvBuffer In>
[[nodiscard]] Result<MessageInfo> try_sendrecv(const Communicator& communicator, Out&& out, Destination to, In&& in,
                                               Source from) {
  return attempt([&] { return sendrecv(communicator, std::forward<Out>(out), to, std::forward<In>(in), from); });
}
[[nodiscard]] inline Result<MessageInfo> try_sendrecv(const Communicator& communicator, const void* out,
                                                      const Layout& out_layout, Destination to, void* in,
                                                      const Layout& in_layout, Source from) {
  return attempt([&] { return sendrecv(communicator, out, out_layout, to, in, in_layout, from); });
}
template <RecvBuffer Buffer>
[[nodiscard]] Result<MessageInfo> try_sendrecv_replace(const Communicator& communicator, Buffer&& data, Destination to,
                                                       Source from) {
  return attempt([&] { return sendrecv_replace(communicator, std::forward<Buffer>(data), to, from); });
}
[[nodiscard]] inline Result<MessageInfo> try_sendrecv_replace(const Communicator& communicator, void* data,
                                                              const Layout& layout, Destination to, Source from) {
  return attempt([&] { return sendrecv_replace(communicator, data, layout, to, from); });
}

template <SendBuffer Out, RecvBuffer In>
[[nodiscard]] Result<Request> try_isendrecv(const Communicator& communicator, Out&& out, Destination to, In&& in,
                                            Source from) {
  return attempt([&] { return isendrecv(communicator, std::forward<Out>(out), to, std::forward<In>(in), from); });
}
[[nodiscard]] inline Result<Request> try_isendrecv(const Communicator& communicator, const void* out,
                                                   const Layout& out_layout, Destination to, void* in,
                                                   const Layout& in_layout, Source from) {
  return attempt([&] { return isendrecv(communicator, out, out_layout, to, in, in_layout, from); });
}
template <RecvBuffer Buffer>
[[nodiscard]] Result<Request> try_isendrecv_replace(const Communicator& communicator, Buffer&& data, Destination to,
                                                    Source from) {
  return attempt([&] { return isendrecv_replace(communicator, std::forward<Buffer>(data), to, from); });
}
[[nodiscard]] inline Result<Request> try_isendrecv_replace(const Communicator& communicator, void* data,
                                                           const Layout& layout, Destination to, Source from) {
  return attempt([&] { return isendrecv_replace(communicator, data, layout, to, from); });
}
/// @}

}  // namespace fab
