#include "core/communicator/call_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/hash.h"

namespace fab::core {

namespace {

/// A call as it travels.
struct Call {
  static constexpr std::size_t kWords = 240;
  static constexpr std::size_t kPlace = 48;

  std::uint64_t hash = 0;  ///< of all words
  Rank rank = 0;
  bool refused = false;
  std::array<char, kWords> words{};
  std::array<char, kPlace> place{};
};

/// What a rank has seen so far.
struct Seen {
  Call call{};
  Call other{};  ///< where they differ
  bool differ = false;
};
static_assert(std::is_trivially_copyable_v<Seen>);

/// Where a run has it: in scratch memory, its own in front and what comes behind.
constexpr std::ptrdiff_t kOwn = 0;

template <std::size_t kSize>
void store(std::string_view text, std::array<char, kSize>& place) noexcept {
  constexpr std::string_view kCut = "...";
  if (text.size() <= kSize) {
    std::ranges::copy(text, place.begin());
    return;
  }
  const auto end = std::ranges::copy(text.substr(0, kSize - kCut.size()), place.begin()).out;
  std::ranges::copy(kCut, end);
}

template <std::size_t kSize>
std::string_view text_of(const std::array<char, kSize>& place) noexcept {
  return {place.data(), static_cast<std::size_t>(std::ranges::find(place, '\0') - place.begin())};
}

bool same(const Call& a, const Call& b) noexcept {
  return !a.refused && !b.refused ? a.hash == b.hash : a.rank == b.rank;
}

bool shows_refusal(const Seen& seen) noexcept { return seen.call.refused || seen.other.refused; }

/// A refusal says more than the difference to what others call.
Seen merged(const Seen& a, const Seen& b) noexcept {
  if (a.differ || b.differ) return !a.differ || (b.differ && shows_refusal(b) && !shows_refusal(a)) ? b : a;
  Seen seen = a;
  seen.differ = !same(a.call, b.call);
  if (seen.differ) seen.other = b.call;
  return seen;
}

void merge(void*, const void* in, void* inout, std::size_t) noexcept {
  Seen come;
  Seen here;
  std::memcpy(&come, in, sizeof(come));
  std::memcpy(&here, inout, sizeof(here));
  here = merged(here, come);
  std::memcpy(inout, &here, sizeof(here));
}

/// How a call ended on a rank.
struct Ended {
  static constexpr std::size_t kWords = 400;

  Rank rank = 0;
  bool failed = false;
  Errc code = Errc::mismatch;
  std::array<char, kWords> words{};  ///< why, unless all went well
};
static_assert(std::is_trivially_copyable_v<Ended>);

void merge_ends(void*, const void* in, void* inout, std::size_t) noexcept {
  Ended here;
  std::memcpy(&here, inout, sizeof(here));
  if (!here.failed) std::memcpy(inout, in, sizeof(here));
}

/// Those before and after a call have one sequence number, so their slots differ.
constexpr std::uint32_t kFirstSlotOfClosing = 64;
static_assert(kFirstSlotOfClosing >= 31 && kFirstSlotOfClosing + 31 <= 1u << TagFormat::kSlotBits);

Schedule dissemination(const char* name, Rank rank, int ranks, std::size_t bytes, std::uint32_t slot) {
  constexpr Reduction kMerge{ReduceOp::user, ElementType::byte};
  ScheduleBuilder builder(name, ranks);
  const Layout layout = Layout::contiguous(bytes);
  const Block own{BufferId::scratch, builder.scratch(bytes), layout};
  const Block come{BufferId::scratch, builder.scratch(bytes), layout};
  for (std::int64_t distance = 1; distance < ranks; distance *= 2, ++slot) {
    builder.recv(static_cast<Rank>((rank - distance + ranks) % ranks), slot, come);
    builder.send(static_cast<Rank>((rank + distance) % ranks), slot, own);
    builder.round();
    builder.reduce(kMerge, bytes, come, own);
    builder.round();
  }
  return builder.commit();
}

std::string told(const Call& call) {
  if (call.refused)
    return fmt::format("rank {} has refused {}: {}", call.rank, text_of(call.place), text_of(call.words));
  return fmt::format("rank {} called {}", call.rank, text_of(call.words));
}

}  // namespace

CallCheck::CallCheck(Membership& communicator)
    : checks_(communicator,
              dissemination("comparison of calls", communicator.rank(), communicator.size(), sizeof(Seen), 0)),
      closings_(communicator, dissemination("comparison of how calls ended", communicator.rank(), communicator.size(),
                                            sizeof(Ended), kFirstSlotOfClosing)) {}

Run& CallCheck::prepare(const CalledAs& call) {
  Run& run = checks_.acquire();
  Seen seen;
  seen.call = {.hash = hash_of(call.words), .rank = checks_.plan().membership().rank(), .refused = call.refused};
  store(call.words, seen.call.words);
  store(call.place, seen.call.place);
  std::memcpy(run.scratch() + kOwn, &seen, sizeof(seen));
  run.prepare({}, call.sequence_tag, {merge, nullptr});
  run.reduce_at_once();
  return run;
}

std::optional<std::string> CallCheck::difference(const Run& check) const {
  Seen seen;
  std::memcpy(&seen, check.scratch() + kOwn, sizeof(seen));
  if (!seen.differ) return std::nullopt;
  if (shows_refusal(seen)) return told(seen.call.refused ? seen.call : seen.other);
  return fmt::format("{}, rank {} called {}, both as {} on this communicator (FAB_CHECK)", told(seen.call),
                     seen.other.rank, text_of(seen.other.words), text_of(seen.call.place));
}

Run& CallCheck::prepare_closing(std::uint64_t sequence_tag) {
  Run& run = closings_.acquire();
  run.prepare({}, sequence_tag, {merge_ends, nullptr});
  run.reduce_at_once();
  return run;
}

// Of all failures only disagreements are told: a rank that depends on a broken one learns of it anyway, and what does
// not depend on it has ended well.
void CallCheck::tell(Run& closing, std::string_view name, const Status& failure) const {
  Ended ended{.rank = closing.membership().rank()};
  if (failure.errc() == Errc::mismatch || failure.errc() == Errc::truncated) {
    ended.failed = true;
    ended.code = failure.errc();
    std::string_view words = failure.message;
    if (words.starts_with(name)) words.remove_prefix(std::min(words.size(), name.size() + std::strlen(": ")));
    store(words, ended.words);
  }
  std::memcpy(closing.scratch() + kOwn, &ended, sizeof(ended));
}

Status CallCheck::found(const Run& closing, std::string_view name) const {
  Ended ended;
  std::memcpy(&ended, closing.scratch() + kOwn, sizeof(ended));
  if (!ended.failed) return {};
  return {make_error_code(ended.code),
          fmt::format("{}: rank {} has found: {} (FAB_CHECK)", name, ended.rank, text_of(ended.words))};
}

}  // namespace fab::core
