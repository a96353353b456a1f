// Drops messages of strangers in OfiProvider, and receives any message of the job: see Peek.
#include <algorithm>
#include <array>
#include <utility>

#include "core/base/ticks.h"
#include "providers/ofi/ofi_provider.h"

namespace fab::ofi {

namespace {

// Of two looks. Each wakes a rank that goes to sleep after it, so one that sleeps looks seldom: messages wake it, too.
constexpr std::int64_t kSweepEvery = 1'000'000;  // ns
constexpr unsigned kSweepPolls = 16;

}  // namespace

// Without the flag an entry may still hold what an earlier message carried.
bool OfiProvider::is_of_the_job(const fi_cq_tagged_entry& entry, std::uint64_t tag) const noexcept {
  if (!key_->has_proof()) return true;
  if (flags_data_ && (entry.flags & FI_REMOTE_CQ_DATA) == 0) return false;
  return entry.data == key_->proof(tag);
}

// A message is for this rank if its tag is right; a receive of any message tells by the proof alone.
void OfiProvider::received(Completion& completion, const fi_cq_tagged_entry& entry) {
  const std::uint64_t tag = key_->uncover(entry.tag);
  if (is_of_the_job(entry, tag)) return ended(completion, entry.len, tag);
  meet_stranger("message");
  forget(completion);
  completion.fail({make_error_code(Errc::mismatch), "a message arrived that no rank of this job sent"});
}

// What tells nothing is a part of a longer write. Memory that was not exposed a stranger cannot write to.
void OfiProvider::written(const fi_cq_tagged_entry& entry) {
  if ((entry.flags & FI_REMOTE_CQ_DATA) == 0) return;
  const std::optional<std::uint32_t> data = key_->has_proof() ? key_->uncover_data(entry.data) : std::nullopt;
  if (!data) return meet_stranger("write");
  if (listener_ != nullptr) listener_->written(*data);
}

void OfiProvider::meet_stranger(std::string_view what) {
  if (++strangers_ == 1)
    log_.write(LogLevel::warn, "{}: a {} that no rank of this job has sent was dropped; others will only be counted",
               description_, what);
}

// One is looking at a time. What is dropped ends at once, or with the next poll.
PostResult OfiProvider::look_for_any(std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore,
                                     Completion& completion) {
  Peek& peek = idle_peek();
  const ssize_t result = receive_by(peek, tag, ignore, FI_PEEK);
  can_peek_ = result == 0 || result == -FI_EAGAIN;
  if (!can_peek_) return receive_part(kAnyPeer, pieces, tag, ignore, completion);
  if (result != 0) return PostResult::again;
  peek.state = Peek::State::looking;
  peek.receive = &completion;
  peek.memory = pieces.front();
  ++peeks_in_use_;
  return PostResult::pending;
}

Peek& OfiProvider::idle_peek() {
  const auto idle = std::ranges::find(peeks_, Peek::State::idle, &Peek::state);
  return idle == peeks_.end() ? peeks_.emplace_back() : *idle;
}

ssize_t OfiProvider::receive_by(Peek& peek, std::uint64_t wire_tag, std::uint64_t ignore, std::uint64_t flags) {
  fi_msg_tagged message{};
  message.addr = FI_ADDR_UNSPEC;
  message.tag = wire_tag;
  message.ignore = ignore & capabilities_.tag_mask;
  message.context = peek.provider_space();
  return fi_trecvmsg(endpoint_.get(), &message, flags | FI_COMPLETION);
}

Peek* OfiProvider::find_peek(const Completion& completion) noexcept {
  if (peeks_in_use_ == 0) return nullptr;
  const auto found = std::ranges::find_if(peeks_, [&](const Peek& peek) { return &peek == &completion; });
  return found == peeks_.end() ? nullptr : &*found;
}

Completion* OfiProvider::end(Peek& peek) noexcept {
  --peeks_in_use_;
  peek.state = Peek::State::idle;
  return std::exchange(peek.receive, nullptr);
}

bool OfiProvider::found(Peek& peek, const fi_cq_tagged_entry& entry) {
  const Peek::State state = peek.state;
  Completion* const receive = end(peek);
  if (state == Peek::State::sweeping) swept(peek, entry);
  if (receive == nullptr) return false;
  const std::uint64_t tag = key_->uncover(entry.tag);
  if (is_of_the_job(entry, tag)) {
    const std::array<iovec, 1> memory{peek.memory};
    if (receive_part(kAnyPeer, memory, tag, 0, *receive) == PostResult::again)
      receive->fail({make_error_code(Errc::cancelled), "refused for now"});
    return true;
  }
  meet_stranger("message");
  if (receive_by(peek, entry.tag, 0, 0) == 0) {
    peek.state = Peek::State::dropping;
    ++peeks_in_use_;
  }
  receive->fail({make_error_code(Errc::mismatch), "a message that no rank of this job has sent was dropped"});
  return true;
}

// There is none (FI_ENOMSG), or it was cut off. A wait looks often, so the text is one that a string holds without an
// allocation.
bool OfiProvider::ended_in_vain(Peek& peek) {
  if (peek.state == Peek::State::sweeping) sweeps_ = false;
  Completion* const receive = end(peek);
  if (receive != nullptr) receive->fail({make_error_code(Errc::cancelled), "nothing came"});
  return receive != nullptr;
}

// About once in a millisecond, and until there is no more of it: looks at the first message that no receive waits for.
void OfiProvider::sweep() {
  if (sweeps_ || ++polls_unswept_ < kSweepPolls || core::ticks() - swept_at_ < core::ticks_in(kSweepEvery)) return;
  swept_at_ = core::ticks();
  polls_unswept_ = 0;
  Peek& peek = idle_peek();
  const ssize_t result = receive_by(peek, 0, ~0ull, FI_PEEK);
  if (result != 0) {
    can_sweep_ = result == -FI_EAGAIN;
    return;
  }
  sweeps_ = true;
  peek.state = Peek::State::sweeping;
  ++peeks_in_use_;
}

// One of a rank's stays where it is. What is looked at has no flags, but its data.
void OfiProvider::swept(Peek& peek, const fi_cq_tagged_entry& entry) {
  sweeps_ = false;
  if (entry.data == key_->proof(key_->uncover(entry.tag))) return;
  meet_stranger("message");
  swept_at_ = 0;
  polls_unswept_ = kSweepPolls;
  if (receive_by(peek, entry.tag, 0, FI_PEEK | FI_DISCARD) != 0) return;
  peek.state = Peek::State::dropping;
  ++peeks_in_use_;
}

}  // namespace fab::ofi
