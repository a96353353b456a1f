// Messages between two ranks: checks the arguments, and hands them to core/point.
#include "fab/point_to_point.h"

#include <fmt/core.h>

#include <memory>

#include "bindings/native/starting.h"
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
  if (check(communicator, memory, to, "send")) start_run(communicator, sending(memory, to, mode)).wait();
}

Request isend(const Communicator& communicator, const MessageMemory& memory, Destination to, SendMode mode) {
  if (!check(communicator, memory, to, "isend")) return {};
  return start_in_background(communicator, sending(memory, to, mode));
}

MessageInfo recv(const Communicator& communicator, const MessageMemory& memory, Source from) {
  if (!check(communicator, memory, from, "recv")) return {};
  Request request = start_run(communicator, receiving(memory, from));
  request.wait();
  return request.message();
}

Request irecv(const Communicator& communicator, const MessageMemory& memory, Source from) {
  if (!check(communicator, memory, from, "irecv")) return {};
  return start_in_background(communicator, receiving(memory, from));
}

// The receive is there first, so that a message that comes at once finds it.
MessageInfo sendrecv(const Communicator& communicator, const MessageMemory& out, Destination to,
                     const MessageMemory& in, Source from) {
  const bool sends = check(communicator, out, to, "sendrecv");
  const bool receives = check(communicator, in, from, "sendrecv");
  Request receive = receives ? start_run(communicator, receiving(in, from)) : Request();
  Request sent;
  try {
    if (sends) sent = start_run(communicator, sending(out, to, SendMode::standard));
  } catch (...) {
    receive.cancel();
    throw;
  }
  const Status send_status = sent.wait_status();
  if (!send_status.ok()) receive.cancel();
  const Status receive_status = receive.wait_status();
  for (const Status& status : {send_status, receive_status})
    if (!status.ok()) throw Error(status.errc(), status.message);
  return receive.message();
}

MessageInfo sendrecv_replace(const Communicator& communicator, const MessageMemory& memory, Destination to,
                             Source from) {
  check_memory(memory, "sendrecv_replace");
  const std::unique_ptr<std::byte[]> out(new std::byte[memory.bytes()]);
  memory.pack(out.get());
  return sendrecv(communicator, MessageMemory(out.get(), memory.bytes()), to, memory, from);
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
  Request request =
      start_run(communicator, [&](core::Communicator& core) FAB_REQUIRES(core::engine_lock) -> core::Pending& {
        return core.context().point_to_point().probe(core, from);
      });
  request.wait();
  return request.message();
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
  return sendrecv(communicator, memory_of(out), to, memory_of(in), from);
}

MessageInfo sendrecv(const Communicator& communicator, const void* out, const Layout& out_layout, Destination to,
                     void* in, const Layout& in_layout, Source from) {
  return sendrecv(communicator, memory_of(out, out_layout), to, memory_of(in, in_layout), from);
}

MessageInfo sendrecv_replace(const Communicator& communicator, std::span<std::byte> data, Destination to, Source from) {
  return sendrecv_replace(communicator, memory_of(data), to, from);
}

MessageInfo sendrecv_replace(const Communicator& communicator, void* data, const Layout& layout, Destination to,
                             Source from) {
  return sendrecv_replace(communicator, memory_of(data, layout), to, from);
}

PersistentMessage persistent_send(const Communicator& communicator, const void* data, const Layout& layout,
                                  Destination to, SendMode mode) {
  static_cast<void>(check(communicator, memory_of(data, layout), to, "persistent_send"));
  return PersistentMessage([=] { return isend(communicator, memory_of(data, layout), to, mode); });
}

PersistentMessage persistent_recv(const Communicator& communicator, void* data, const Layout& layout, Source from) {
  static_cast<void>(check(communicator, memory_of(data, layout), from, "persistent_recv"));
  return PersistentMessage([=] { return irecv(communicator, memory_of(data, layout), from); });
}

void PersistentMessage::start() {
  if (!start_)
    throw Error(Errc::invalid_argument,
                "PersistentMessage::start: it holds no message; persistent_send or persistent_recv makes one");
  if (active()) throw Error(Errc::invalid_argument, "PersistentMessage::start: it is active already");
  request_ = start_();
}

Status PersistentMessage::try_start() {
  return attempt([this] { start(); });
}

}  // namespace fab
