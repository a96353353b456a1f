#include "core/peers/inbox.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/progress/engine.h"
#include "core/wire/message_parts.h"

namespace fab::core {

namespace {

constexpr int kHasteAfterCatch = 16;
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

Inbox::Letter::Letter(Inbox& its_inbox, std::uint64_t its_tag, std::uint64_t its_bytes)
    : Completion(
          [](Completion& self, std::uint64_t, std::uint64_t) noexcept { static_cast<Letter&>(self).arrived = true; },
          [](Completion& self, const Status&) noexcept {
            engine_lock.assert_held();
            auto& letter = static_cast<Letter&>(self);
            letter.inbox.lost(letter);
          }),
      inbox(its_inbox),
      tag(its_tag),
      bytes(its_bytes),
      memory(new std::byte[its_bytes]) {}

Inbox::Inbox(Engine& engine, Provider& provider, const TagFormat& tags)
    : engine_(engine), provider_(provider), tags_(tags), catch_(*this) {}

bool Inbox::look_before_sleep(bool quiet) { return (quiet || haste_ > 0) && look(); }

void Inbox::polled(bool nothing_happened) {
  if (++polls_ >= kPollsPerLook || (haste_ > 0 && nothing_happened)) static_cast<void>(look());
}

// Later parts are left alone: they are too long for the catch, and follow a first part that was received or caught.
bool Inbox::look() {
  if (catch_.in_use) return false;
  polls_ = 0;
  haste_ = std::max(haste_ - 1, 0);
  const std::array<iovec, 1> memory{{{catch_.memory.get(), kHeadBytes}}};
  catch_.in_use = true;
  if (provider_.post_recv(0, memory, 0, ~tags_.later_mark(), catch_) == PostResult::again) {
    catch_.in_use = false;
    return false;
  }
  provider_.cancel(catch_);
  const std::size_t letters = letters_.size();
  const std::size_t events = provider_.poll();
  const bool caught_nothing = !catch_.in_use && letters_.size() == letters;
  if (!caught_nothing) haste_ = kHasteAfterCatch;
  return events > (caught_nothing ? 1u : 0u);
}

void Inbox::forward(Forward envelope) {
  forward_ = std::move(envelope);
  for (auto next = letters_.begin(); next != letters_.end();) {
    const auto letter = next++;
    if (!tags_.is_point_to_point(letter->first)) continue;
    const Letters::node_type node = letters_.extract(letter);
    forward_({node.mapped().memory.get(), node.mapped().bytes});
  }
}

// Taken back, or something that no rank of the job has sent, which has gone: more of it may stand behind.
void Inbox::caught_nothing(const Status& status) {
  catch_.in_use = false;
  if (status.errc() == Errc::cancelled) return;
  haste_ = kHasteAfterCatch;
  if (status.errc() == Errc::truncated) ++too_long_;
}

void Inbox::caught(std::uint64_t bytes, std::uint64_t tag) {
  catch_.in_use = false;
  if (forward_ && tags_.is_point_to_point(tag)) return forward_({catch_.memory.get(), bytes});
  Letter& letter =
      letters_.emplace(std::piecewise_construct, std::tuple(key(tag)), std::forward_as_tuple(*this, tag, bytes))
          ->second;
  std::memcpy(letter.memory.get(), catch_.memory.get(), bytes);
  letter.arrived = true;
  if ((tag & tags_.framed()) == 0 || bytes < FrameHead::kBytes) return;
  expect_later_parts(tag, read_frame_head(letter.memory.get()).message_bytes);
}

void Inbox::expect_later_parts(std::uint64_t first_part_tag, std::uint64_t message_bytes) {
  const auto parts = parts_of(message_bytes, tags_);
  for (const MessagePart& part : std::span(parts).subspan(1)) {
    const std::uint64_t tag = key(first_part_tag) | part.mark;
    post_later_part(
        letters_.emplace(std::piecewise_construct, std::tuple(tag), std::forward_as_tuple(*this, tag, part.bytes))
            ->second);
  }
}

// A refused post becomes a task of the engine, which tries it again.
void Inbox::post_later_part(Letter& letter) {
  const std::array<iovec, 1> memory{{{letter.memory.get(), letter.bytes}}};
  if (provider_.post_recv(0, memory, letter.tag, tags_.framed(), letter) == PostResult::again)
    engine_.enqueue([this, &letter] {
      engine_lock.assert_held();
      post_later_part(letter);
    });
}

void Inbox::lost(const Letter& letter) {
  const auto [first, last] = letters_.equal_range(key(letter.tag));
  letters_.erase(std::find_if(first, last, [&letter](const auto& entry) { return &entry.second == &letter; }));
}

PostResult Inbox::post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag, Completion& completion) {
  const auto found = letters_.empty() ? letters_.end() : letters_.find(key(tag));
  if (found == letters_.end()) {
    // The message may be the one that is being caught.
    if (catch_.in_use) return PostResult::again;
    return provider_.post_recv(from, pieces, tag, tags_.framed(), completion);
  }
  if (!found->second.arrived) return PostResult::again;
  const Letters::node_type node = letters_.extract(found);
  const Letter& letter = node.mapped();
  std::uint64_t copied = 0;
  for (const iovec& piece : pieces) {
    const std::uint64_t bytes = std::min<std::uint64_t>(piece.iov_len, letter.bytes - copied);
    if (bytes > 0) std::memcpy(piece.iov_base, letter.memory.get() + copied, bytes);
    copied += bytes;
  }
  if (copied == letter.bytes)
    completion.done(letter.bytes, letter.tag);
  else
    completion.fail({make_error_code(Errc::truncated), "a message of " + std::to_string(letter.bytes) +
                                                           " bytes arrived where there is room for " +
                                                           std::to_string(copied)});
  return PostResult::pending;
}

}  // namespace fab::core
