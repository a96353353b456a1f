// Messages between two ranks: checks the arguments, and hands them to core/point.
#include "fab/point_to_point.h"

#include <fmt/core.h>

#include <memory>

#include "bindings/native/base/starting.h"
#include "core/communicator/communicator.h"
#include "core/context.h"
#include "core/point/point_to_point.h"
#include "core/run/wait.h"
#include "fab/persistent_message.h"

namespace fab {

namespace {

using core::MessageMemory;

void check_rank(const Communicator& communicator, Rank rank, const char* call, const char* argument) {
  if (rank < 0 || rank >= communicator.size())
    throw Error(Errc::invalid_rank, fmt::format("{}: {}.rank is {}; the communicator has ranks 0 to {}", call, argument,
                                                rank, communicator.size() - 1));
}

void check_tag(Tag tag, Tag least, const char* call, const char* argument) {
  if (tag < least)
    throw Error(Errc::invalid_argument, fmt::format("{}: {}.tag is {}; valid are 0 to 2147483647{}", call, argument,
                                                    static_cast<int>(tag), least == kAnyTag ? " and kAnyTag" : ""));
}

/// Returns whether there is anything to do.
bool check(const Communicator& communicator, Destination to, const char* call) {
  check_tag(to.tag, Tag{0}, call, "to");
  if (to.rank == kNoRank) return false;
  check_rank(communicator, to.rank, call, "to");
  return true;
}

bool check(const Communicator& communicator, Source from, const char* call) {
  check_tag(from.tag, kAnyTag, call, "from");
  if (from.rank == kNoRank) return false;
  if (from.rank != kAnySource) check_rank(communicator, from.rank, call, "from");
  return true;
}

/// Blocks elsewhere are legal: their offsets may be addresses.
void check_memory(const MessageMemory& memory, const char* call) {
  if (memory.is_contiguous() && memory.contiguous() == nullptr && memory.bytes() > 0)
    throw Error(Errc::invalid_argument,
                fmt::format("{}: data is a null pointer; valid is the address of {} bytes", call, memory.bytes()));
}

/// Returns whether there is anything to do.
template <class Partner>
bool check(const Communicator& communicator, const MessageMemory& memory, Partner partner, const char* call) {
  if (!check(communicator, partner, call)) return false;
  check_memory(memory, call);
  return true;
}

std::byte* writable(const void* memory) { return static_cast<std::byte*>(const_cast<void*>(memory)); }

MessageMemory memory_of(std::span<const std::byte> data) { return {writable(data.data()), data.size()}; }
MessageMemory memory_of(const void* data, const Layout& layout) { return {writable(data), layout}; }

auto sending(const MessageMemory& memory, Destination to, SendMode mode) {
  return [=, &memory](core::Communicator& core) FAB_REQUIRES(core::engine_lock) -> core::Pending& {
    return core.context().point_to_point().send(core, memory, to, mode);
  };
}

auto receiving(const MessageMemory& memory, Source from) {
  return [=, &memory](core::Communicator& core) FAB_REQUIRES(core::engine_lock) -> core::Pending& {
    return core.context().point_to_point().receive(core, memory, from);
  };
}

void send(const Communicator& communicator, const MessageMemory& memory, Destination to, SendMode mode) {
  if (check(communicator, memory, to, "send")) pass_message(communicator, sending(memory, to, mode));
}

Request isend(const Communicator& communicator, const MessageMemory& memory, Destination to, SendMode mode) {
  if (!check(communicator, memory, to, "isend")) return {};
  return start_in_background(communicator, sending(memory, to, mode));
}

MessageInfo recv(const Communicator& communicator, const MessageMemory& memory, Source from) {
  if (!check(communicator, memory, from, "recv")) return {};
  return pass_message(communicator, receiving(memory, from));
}

Request irecv(const Communicator& communicator, const MessageMemory& memory, Source from) {
  if (!check(communicator, memory, from, "irecv")) return {};
  return start_in_background(communicator, receiving(memory, from));
}

Request start_sendrecv(const Communicator& communicator, const MessageMemory& out, Destination to,
                       const MessageMemory& in, Source from, const char* call) {
  const bool sends = check(communicator, out, to, call);
  const bool receives = check(communicator, in, from, call);
  if (!sends && !receives) return {};
  return start_run(communicator, [&](core::Communicator& core) FAB_REQUIRES(core::engine_lock) -> core::Pending& {
    return core.context().point_to_point().sendrecv(core, out, to, in, from);
  });
}

Request start_sendrecv_replace(const Communicator& communicator, const MessageMemory& memory, Destination to,
                               Source from, const char* call) {
  check_memory(memory, call);
  const bool sends = check(communicator, to, call);
  const bool receives = check(communicator, from, call);
  if (!sends && !receives) return {};
  return start_run(communicator, [&](core::Communicator& core) FAB_REQUIRES(core::engine_lock) -> core::Pending& {
    return core.context().point_to_point().sendrecv_replace(core, memory, to, from);
  });
}

/// The caller waits.
MessageInfo received(Request request) {
  request.wait();
  return request.message();
}

/// The caller goes its way.
Request in_background(const Communicator& communicator, Request request) {
  if (request.active()) Access::core(communicator)->engine().hand_over_progress();
  return request;
}

}  // namespace

void send(const Communicator& communicator, std::span<const std::byte> data, Destination to, SendMode mode) {
  send(communicator, memory_of(data), to, mode);
}

void send(const Communicator& communicator, const void* data, const Layout& layout, Destination to, SendMode mode) {
  send(communicator, memory_of(data, layout), to, mode);
}

Request isend(const Communicator& communicator, std::span<const std::byte> data, Destination to, SendMode mode) {
  return isend(communicator, memory_of(data), to, mode);
}

Request isend(const Communicator& communicator, const void* data, const Layout& layout, Destination to, SendMode mode) {
  return isend(communicator, memory_of(data, layout), to, mode);
}

MessageInfo recv(const Communicator& communicator, std::span<std::byte> data, Source from) {
  return recv(communicator, memory_of(data), from);
}

MessageInfo recv(const Communicator& communicator, void* data, const Layout& layout, Source from) {
  return recv(communicator, memory_of(data, layout), from);
}

Request irecv(const Communicator& communicator, std::span<std::byte> data, Source from) {
  return irecv(communicator, memory_of(data), from);
}

Request irecv(const Communicator& communicator, void* data, const Layout& layout, Source from) {
  return irecv(communicator, memory_of(data, layout), from);
}

MessageInfo probe(const Communicator& communicator, Source from) {
  if (!check(communicator, from, "probe")) return {};
  return pass_message(communicator, [&](core::Communicator& core) FAB_REQUIRES(core::engine_lock) -> core::Pending& {
    return core.context().point_to_point().probe(core, from);
  });
}

std::optional<MessageInfo> iprobe(const Communicator& communicator, Source from) {
  if (!check(communicator, from, "iprobe")) return MessageInfo{};
  core::Communicator& core = *Access::core(communicator);
  std::optional<MessageInfo> found;
  {
    const core::Lock lock(core.engine());
    core::PointToPoint& messages = core.context().point_to_point();
    found = messages.find(core, from);
    if (!found) {
      core.engine().progress();
      found = messages.find(core, from);
    }
  }
  core.engine().hand_over_progress();
  return found;
}

MessageInfo sendrecv(const Communicator& communicator, std::span<const std::byte> out, Destination to,
                     std::span<std::byte> in, Source from) {
  return received(start_sendrecv(communicator, memory_of(out), to, memory_of(in), from, "sendrecv"));
}

MessageInfo sendrecv(const Communicator& communicator, const void* out, const Layout& out_layout, Destination to,
                     void* in, const Layout& in_layout, Source from) {
  return received(
      start_sendrecv(communicator, memory_of(out, out_layout), to, memory_of(in, in_layout), from, "sendrecv"));
}

MessageInfo sendrecv_replace(const Communicator& communicator, std::span<std::byte> data, Destination to, Source from) {
  return received(start_sendrecv_replace(communicator, memory_of(data), to, from, "sendrecv_replace"));
}

MessageInfo sendrecv_replace(const Communicator& communicator, void* data, const Layout& layout, Destination to,
                             Source from) {
  return received(start_sendrecv_replace(communicator, memory_of(data, layout), to, from, "sendrecv_replace"));
}

Request isendrecv(const Communicator& communicator, const void* out, const Layout& out_layout, Destination to, void* in,
                  const Layout& in_layout, Source from) {
  return in_background(communicator, start_sendrecv(communicator, memory_of(out, out_layout), to,
                                                    memory_of(in, in_layout), from, "isendrecv"));
}

Request isendrecv_replace(const Communicator& communicator, void* data, const Layout& layout, Destination to,
                          Source from) {
  return in_background(communicator,
                       start_sendrecv_replace(communicator, memory_of(data, layout), to, from, "isendrecv_replace"));
}

PersistentMessage persistent_send(const Communicator& communicator, const void* data, const Layout& layout,
                                  Destination to, SendMode mode) {
  static_cast<void>(check(communicator, memory_of(data, layout), to, "persistent_send"));
  return Access::message([=] { return isend(communicator, memory_of(data, layout), to, mode); });
}

PersistentMessage persistent_recv(const Communicator& communicator, void* data, const Layout& layout, Source from) {
  static_cast<void>(check(communicator, memory_of(data, layout), from, "persistent_recv"));
  return Access::message([=] { return irecv(communicator, memory_of(data, layout), from); });
}

PersistentMessage persistent_sendrecv(const Communicator& communicator, const void* out, const Layout& out_layout,
                                      Destination to, void* in, const Layout& in_layout, Source from) {
  static_cast<void>(check(communicator, memory_of(out, out_layout), to, "persistent_sendrecv"));
  static_cast<void>(check(communicator, memory_of(in, in_layout), from, "persistent_sendrecv"));
  return Access::message([=] { return isendrecv(communicator, out, out_layout, to, in, in_layout, from); });
}

PersistentMessage persistent_sendrecv_replace(const Communicator& communicator, void* data, const Layout& layout,
                                              Destination to, Source from) {
  static_cast<void>(check(communicator, memory_of(data, layout), to, "persistent_sendrecv_replace"));
  static_cast<void>(check(communicator, from, "persistent_sendrecv_replace"));
  return Access::message([=] { return isendrecv_replace(communicator, data, layout, to, from); });
}

void PersistentMessage::start() {
  if (!start_)
    throw Error(Errc::invalid_argument,
                "PersistentMessage::start: it holds no message; persistent_send and its kin make one");
  if (active()) throw Error(Errc::invalid_argument, "PersistentMessage::start: it is active already");
  request_ = start_();
}

Status PersistentMessage::try_start() {
  return attempt([this] { start(); });
}

}  // namespace fab
