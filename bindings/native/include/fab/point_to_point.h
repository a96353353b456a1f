// Messages from one rank to another, for codes whose pattern is not known beforehand (MPI-4.1, chapter 3; the calls and
// modes that Lang, Distributed-Memory Programming Models II, 2015, describes). Where the pattern is known exchanges
// (fab/neighbor.h) are faster.
//
// Common to all calls
//   - A message matches a receive on the same communicator by its source and tag. Of the receives that match, the one
//     that was started first takes it; messages between two ranks on one communicator do not overtake each other
//     (MPI-4.1, 3.5). Messages and exchanges never meet.
//   - A receive may have room for more than comes. If more comes than there is room for nothing is written, and the
//     receive fails with Errc::truncated; the send succeeds.
//   - The `i` forms return at once; a progress thread finishes them while the caller computes. Request::message() tells
//     what a receive took.
//   - A rank may send to itself. A standard send of a long message to oneself waits for its receive, as any other.
//   - Throws Error(invalid_rank) for a rank outside the communicator, Error(invalid_argument) for a tag that is
//     negative, Error(no_resources) when buffered messages would take more than 64 MiB; otherwise what Request::wait
//     throws. When a rank is lost, what depends on it fails with Errc::unreachable or Errc::transport: also receives
//     from kAnySource on a communicator that it belongs to.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "fab/buffer.h"
#include "fab/communicator.h"
#include "fab/layout.h"
#include "fab/message.h"
#include "fab/request.h"

namespace fab {

/// Returns when the memory may be used again, which SendMode defines.
void send(const Communicator& communicator, std::span<const std::byte> data, Destination to,
          SendMode mode = SendMode::standard);
/// The bytes of a layout.
void send(const Communicator& communicator, const void* data, const Layout& layout, Destination to,
          SendMode mode = SendMode::standard);
[[nodiscard]] Request isend(const Communicator& communicator, std::span<const std::byte> data, Destination to,
                            SendMode mode = SendMode::standard);
[[nodiscard]] Request isend(const Communicator& communicator, const void* data, const Layout& layout, Destination to,
                            SendMode mode = SendMode::standard);

/// Returns when a message is in the memory. Tells which.
MessageInfo recv(const Communicator& communicator, std::span<std::byte> data, Source from = {});
/// Into the first bytes of a layout, in the order in which they travel.
MessageInfo recv(const Communicator& communicator, void* data, const Layout& layout, Source from = {});
[[nodiscard]] Request irecv(const Communicator& communicator, std::span<std::byte> data, Source from = {});
[[nodiscard]] Request irecv(const Communicator& communicator, void* data, const Layout& layout, Source from = {});

/// Returns when there is a message that a receive with the same arguments would take, without taking it.
[[nodiscard]] MessageInfo probe(const Communicator& communicator, Source from = {});
/// Makes some progress and tells whether there is one.
[[nodiscard]] std::optional<MessageInfo> iprobe(const Communicator& communicator, Source from = {});

/// Both at once, so that rings and chains of them do not wait in a circle. The memories do not overlap.
MessageInfo sendrecv(const Communicator& communicator, std::span<const std::byte> out, Destination to,
                     std::span<std::byte> in, Source from);
MessageInfo sendrecv(const Communicator& communicator, const void* out, const Layout& out_layout, Destination to,
                     void* in, const Layout& in_layout, Source from);
/// The same with one memory: what comes replaces what was sent, as far as it goes.
MessageInfo sendrecv_replace(const Communicator& communicator, std::span<std::byte> data, Destination to, Source from);
MessageInfo sendrecv_replace(const Communicator& communicator, void* data, const Layout& layout, Destination to,
                             Source from);

// Buffers of trivially copyable elements (fab/buffer.h).

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

}  // namespace fab
