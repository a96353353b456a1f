#include "core/peers/inbox.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/progress/engine.h"
#include "core/wire/message_parts.h"

namespace fab::core {

namespace {

constexpr int kPollsPerLook = 256;

}  // namespace

Inbox::Catch::Catch(Inbox& its_inbox)
    : Completion(
          [](Completion& self, std::uint64_t bytes, std::uint64_t tag) noexcept {
            engine_lock.assert_held();
            static_cast<Catch&>(self).inbox.caught(bytes, tag);
          },
          [](Completion& self, const Status& status) noexcept {
            engine_lock.assert_held();
            static_cast<Catch&>(self).inbox.caught_nothing(status);
          }),
      inbox(its_inbox),
      memory(new std::byte[kHeadBytes]) {}

Inbox::UnexpectedMessage::UnexpectedMessage(Inbox& its_inbox, std::uint64_t its_tag, std::uint64_t its_bytes)
    : Completion([](Completion& self, std::uint64_t,
                    std::uint64_t) noexcept { static_cast<UnexpectedMessage&>(self).arrived = true; },
                 [](Completion& self, const Status&) noexcept {
                   engine_lock.assert_held();
                   auto& message = static_cast<UnexpectedMessage&>(self);
                   message.inbox.lost(message);
                 }),
      inbox(its_inbox),
      tag(its_tag),
      bytes(its_bytes),
      memory(new std::byte[its_bytes]) {}

Inbox::Inbox(Engine& engine, Provider& provider, const TagFormat& tags)
    : engine_(engine), provider_(provider), tags_(tags), catch_(*this) {}

bool Inbox::look_before_sleep(bool quiet) { return (quiet || caught_one_) && look(); }

void Inbox::polled(bool nothing_happened) {
  if (++polls_ >= kPollsPerLook || (caught_one_ && nothing_happened)) static_cast<void>(look());
}

// Later parts are left alone: they are too long for the catch, and follow a first part that was received or caught.
bool Inbox::look() {
  if (catch_.in_use) return false;
  polls_ = 0;
  caught_one_ = false;
  const std::array<iovec, 1> memory{{{catch_.memory.get(), kHeadBytes}}};
  catch_.in_use = true;
  if (provider_.post_recv(0, memory, 0, ~tags_.later_mark(), catch_) == PostResult::again) {
    catch_.in_use = false;
    return false;
  }
  provider_.cancel(catch_);
  const std::size_t events = provider_.poll();
  const bool in_vain = !catch_.in_use && !caught_one_;
  return events > (in_vain ? 1u : 0u);
}

void Inbox::forward(Forward envelope) {
  forward_ = std::move(envelope);
  for (auto next = messages_.begin(); next != messages_.end();) {
    const auto message = next++;
    if (!tags_.is_point_to_point(message->first)) continue;
    const Messages::node_type node = messages_.extract(message);
    forward_({node.mapped().memory.get(), node.mapped().bytes});
  }
}

// The receive was cancelled, or took and dropped a message from outside the job; more of those may follow.
void Inbox::caught_nothing(const Status& status) {
  catch_.in_use = false;
  if (status.errc() == Errc::cancelled) return;
  caught_one_ = true;
  if (status.errc() == Errc::truncated) ++too_long_;
}

void Inbox::caught(std::uint64_t bytes, std::uint64_t tag) {
  catch_.in_use = false;
  caught_one_ = true;
  if (forward_ && tags_.is_point_to_point(tag)) return forward_({catch_.memory.get(), bytes});
  UnexpectedMessage& message =
      messages_.emplace(std::piecewise_construct, std::tuple(key(tag)), std::forward_as_tuple(*this, tag, bytes))
          ->second;
  std::memcpy(message.memory.get(), catch_.memory.get(), bytes);
  message.arrived = true;
  if ((tag & tags_.framed()) == 0 || bytes < FrameHead::kBytes) return;
  expect_later_parts(tag, read_frame_head(message.memory.get()).message_bytes);
}

void Inbox::expect_later_parts(std::uint64_t first_part_tag, std::uint64_t message_bytes) {
  const auto parts = parts_of(message_bytes, tags_);
  for (const MessagePart& part : std::span(parts).subspan(1)) {
    const std::uint64_t tag = key(first_part_tag) | part.mark;
    post_later_part(
        messages_.emplace(std::piecewise_construct, std::tuple(tag), std::forward_as_tuple(*this, tag, part.bytes))
            ->second);
  }
}

// A refused post becomes a task of the engine, which tries it again.
void Inbox::post_later_part(UnexpectedMessage& message) {
  const std::array<iovec, 1> memory{{{message.memory.get(), message.bytes}}};
  if (provider_.post_recv(0, memory, message.tag, tags_.framed(), message) == PostResult::again)
    engine_.enqueue([this, &message] {
      engine_lock.assert_held();
      post_later_part(message);
    });
}

void Inbox::lost(const UnexpectedMessage& message) {
  const auto [first, last] = messages_.equal_range(key(message.tag));
  messages_.erase(std::find_if(first, last, [&message](const auto& entry) { return &entry.second == &message; }));
}

PostResult Inbox::post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag, Completion& completion) {
  const auto found = messages_.empty() ? messages_.end() : messages_.find(key(tag));
  if (found == messages_.end()) {
    // The message may be the one that is being caught.
    if (catch_.in_use) return PostResult::again;
    return provider_.post_recv(from, pieces, tag, tags_.framed(), completion);
  }
  if (!found->second.arrived) return PostResult::again;
  const Messages::node_type node = messages_.extract(found);
  const UnexpectedMessage& message = node.mapped();
  std::uint64_t copied = 0;
  for (const iovec& piece : pieces) {
    const std::uint64_t bytes = std::min<std::uint64_t>(piece.iov_len, message.bytes - copied);
    if (bytes > 0) std::memcpy(piece.iov_base, message.memory.get() + copied, bytes);
    copied += bytes;
  }
  if (copied == message.bytes)
    completion.done(message.bytes, message.tag);
  else
    completion.fail({make_error_code(Errc::truncated), "a message of " + std::to_string(message.bytes) +
                                                           " bytes arrived where there is room for " +
                                                           std::to_string(copied)});
  return PostResult::pending;
}

}  // namespace fab::core
