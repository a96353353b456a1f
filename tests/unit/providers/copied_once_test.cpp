// Messages to several ranks of a node, which read one copy.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "providers/local/local_provider.h"
#include "providers/local/thresholds.h"
#include "support/outcome.h"
#include "unit/support/local_ends.h"

namespace fab::test {
namespace {

/// One sender and three receivers in this process.
class CopiedOnce : public testing::Test {
 protected:
  static constexpr std::size_t kReceivers = 3;
  static constexpr std::size_t kLongest = local::longest_shared(LocalLong::automatic);
  static constexpr std::size_t kLongestInRing = local::longest_copied(LocalLong::automatic).unknown;

  struct End {
    End(Rank rank, const Log& log)
        : provider(std::make_unique<local::LocalProvider>(LocalLong::automatic, job(rank), log)) {}

    std::unique_ptr<local::LocalProvider> provider;
    PeerHandle from_sender = 0;
    std::vector<std::byte> memory;
    Outcome outcome;
  };

  CopiedOnce() {
    for (End& each : ends_) {
      handles_.push_back(sender_.connect(each.provider->address()));
      each.from_sender = each.provider->connect(sender_.address());
    }
  }
  static JobInfo job(Rank rank) {
    JobInfo info;
    info.rank = rank;
    info.size = info.local_size = kReceivers + 1;
    for (Rank each = 0; each < info.size; ++each) info.node_ranks.push_back(each);
    return info;
  }
  /// Returns what became of it, by receiver.
  std::array<PostResult, kReceivers> send_to_all(std::span<const std::byte> message, std::uint64_t tag) {
    std::array<Addressee, kReceivers> addressees;
    for (std::size_t i = 0; i < kReceivers; ++i) {
      outcomes_[i] = Outcome();
      addressees[i] = {handles_[i], tag, &outcomes_[i]};
    }
    const iovec pieces[] = {
        {const_cast<std::byte*>(message.data()), message.size() / 3},
        {const_cast<std::byte*>(message.data()) + message.size() / 3, message.size() - message.size() / 3}};
    sender_.post_send_to_all(addressees, pieces);
    std::array<PostResult, kReceivers> results{};
    std::ranges::transform(addressees, results.begin(), &Addressee::result);
    return results;
  }
  void receive(End& end, std::size_t bytes, std::uint64_t tag) {
    end.memory.assign(bytes, std::byte{0xee});
    end.outcome.ended = false;
    const iovec piece{end.memory.data(), bytes};
    ASSERT_EQ(end.provider->post_recv(end.from_sender, {&piece, 1}, tag, 0, end.outcome), PostResult::pending);
  }
  /// The next message of that tag is this one.
  void expect(End& end, std::span<const std::byte> message, std::uint64_t tag) {
    ASSERT_NO_FATAL_FAILURE(receive(end, message.size(), tag));
    for (int turn = 0; turn < 10'000 && !end.outcome.ended; ++turn) {
      end.provider->poll();
      sender_.poll();
    }
    ASSERT_TRUE(end.outcome.ended);
    EXPECT_EQ(end.outcome.bytes, message.size());
    EXPECT_TRUE(std::ranges::equal(end.memory, message));
  }
  std::uint64_t sent_to(std::size_t receiver, std::string_view wanted) const {
    std::uint64_t sent = 0;
    sender_.visit_ways(handles_[receiver], [&](std::string_view way, std::uint64_t messages, std::uint64_t) {
      if (way == wanted) sent += messages;
    });
    return sent;
  }

  static constexpr std::array kAllDone{PostResult::done, PostResult::done, PostResult::done};

  Log log_{LogLevel::warn, 0};
  local::LocalProvider sender_{LocalLong::automatic, job(0), log_};
  std::array<End, kReceivers> ends_{End(1, log_), End(2, log_), End(3, log_)};
  std::vector<PeerHandle> handles_;
  std::array<Outcome, kReceivers> outcomes_;
};

TEST_F(CopiedOnce, EachReceiverGetsTheBytes) {
  const std::vector<std::size_t> lengths{
      0, 1, local::CommonCell::kInlineBytes, local::CommonCell::kInlineBytes + 1, 4096, kLongest};
  for (const std::size_t bytes : lengths) {
    const std::vector<std::byte> message = periodic_bytes(bytes, static_cast<unsigned>(bytes));
    ASSERT_NO_FATAL_FAILURE(receive(ends_[0], bytes, 7));  // one waits, one comes later, one has other messages first
    EXPECT_EQ(send_to_all(message, 7), kAllDone);
    const std::vector<std::byte> other = periodic_bytes(bytes, 3);
    EXPECT_EQ(send_to_all(other, 8), kAllDone);
    ends_[0].provider->poll();
    EXPECT_TRUE(ends_[0].outcome.ended);
    EXPECT_EQ(ends_[0].memory, message);
    expect(ends_[0], other, 8);
    expect(ends_[1], message, 7);
    expect(ends_[1], other, 8);
    expect(ends_[2], other, 8);
    expect(ends_[2], message, 7);
  }
  for (std::size_t i = 0; i < kReceivers; ++i) EXPECT_EQ(sent_to(i, "shared"), 2 * lengths.size());
}

TEST_F(CopiedOnce, LongOnesGoTheirOwnWays) {
  const std::vector<std::byte> extended = periodic_bytes(kLongest + 1, 2);
  constexpr std::array kAllPending{PostResult::pending, PostResult::pending, PostResult::pending};
  EXPECT_EQ(send_to_all(extended, 2), kAllPending);
  for (End& each : ends_) expect(each, extended, 2);
  sender_.poll();
  for (std::size_t i = 0; i < kReceivers; ++i) {
    EXPECT_TRUE(outcomes_[i].ended);
    EXPECT_EQ(sent_to(i, "shared"), 0u);
    EXPECT_EQ(sent_to(i, "kernel"), 1u);
  }
}

TEST_F(CopiedOnce, EachReceiverMayHaveATagOfItsOwn) {
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}}) {
    const std::vector<std::byte> message = periodic_bytes(bytes, 6);
    std::array<Addressee, kReceivers> addressees{
        {{handles_[0], 1, &outcomes_[0]}, {handles_[1], 2, &outcomes_[1]}, {handles_[2], 1, &outcomes_[2]}}};
    const iovec piece{const_cast<std::byte*>(message.data()), message.size()};
    sender_.post_send_to_all(addressees, {&piece, 1});
    expect(ends_[0], message, 1);
    expect(ends_[1], message, 2);
    expect(ends_[2], message, 1);
  }
  for (const std::size_t i : {0u, 2u}) EXPECT_EQ(sent_to(i, "shared"), 2u);
  EXPECT_EQ(sent_to(1, "shared"), 1u);
  EXPECT_EQ(sent_to(1, "cell"), 1u) << "no cell for one reader alone";
}

// Messages with the same tag come in the order in which they were sent, each to all or to one.
TEST_F(CopiedOnce, MessagesToAllAndToOneKeepTheirOrder) {
  constexpr std::uint64_t kTag = 5;
  std::vector<std::vector<std::byte>> to_first;
  for (unsigned i = 0; i < 40; ++i) {
    const std::vector<std::byte> message = periodic_bytes(i % 3 == 0 ? 200 : 8, i);
    to_first.push_back(message);
    if (i * 7 % 5 < 2) {
      EXPECT_EQ(send_to_all(message, kTag), kAllDone);
    } else {
      const iovec piece{const_cast<std::byte*>(message.data()), message.size()};
      EXPECT_EQ(sender_.post_send(handles_[0], {&piece, 1}, kTag, outcomes_[0]), PostResult::done);
    }
  }
  for (const std::vector<std::byte>& message : to_first) expect(ends_[0], message, kTag);
}

// Cells that are not for it are written anew many times before it looks.
TEST_F(CopiedOnce, AReceiverThatWasNotNamedForLongFindsItsNextMessage) {
  const std::vector<std::byte> message = periodic_bytes(8, 1);
  const iovec piece{const_cast<std::byte*>(message.data()), message.size()};
  for (const std::uint64_t others : {0u, 1u, 63u, 64u, 65u, 127u, 1000u}) {
    for (std::uint64_t tag = 100; tag < 100 + others; ++tag) {
      std::array<Addressee, 2> addressees{{{handles_[0], tag, &outcomes_[0]}, {handles_[1], tag, &outcomes_[1]}}};
      sender_.post_send_to_all(addressees, {&piece, 1});
      for (std::size_t i = 0; i < 2; ++i) expect(ends_[i], message, tag);
    }
    EXPECT_EQ(send_to_all(message, others), kAllDone);
    for (End& each : ends_) expect(each, message, others);
  }
  EXPECT_EQ(sent_to(2, "shared"), 7u);
  EXPECT_EQ(sent_to(0, "cell"), 0u);
}

// Its receivers copy it without the sender's help, and without a copy of its own.
TEST_F(CopiedOnce, WhatLiesInMemoryOfFabsIsMapped) {
  auto* const memory = static_cast<std::byte*>(core::SharedHeap::of_process().allocate(kLongest));
  const std::vector<std::byte> message = periodic_bytes(kLongest, 4);
  std::ranges::copy(message, memory);
  send_to_all({memory, kLongest}, 1);
  for (End& each : ends_) expect(each, message, 1);
  sender_.poll();
  for (std::size_t i = 0; i < kReceivers; ++i) {
    EXPECT_TRUE(outcomes_[i].ended);
    EXPECT_EQ(sent_to(i, "mapped"), 1u);
  }
  core::SharedHeap::of_process().free(memory);
}

TEST_F(CopiedOnce, TheAreaIsUsedRoundAndRound) {
  for (unsigned i = 0; i < 300; ++i) {
    const std::vector<std::byte> message = periodic_bytes(200 + i * 7919 % (kLongest - 200), i);
    EXPECT_EQ(send_to_all(message, i), kAllDone);
    for (End& each : ends_) expect(each, message, i);
  }
  for (std::size_t i = 0; i < kReceivers; ++i) EXPECT_EQ(sent_to(i, "shared"), 300u);
}

// The last receiver reads nothing until all was sent: its messages lie in the area, then in its ring, then with the
// caller. The others are not held up.
TEST_F(CopiedOnce, WhereItIsFullEachGetsACopy) {
  std::deque<std::vector<std::byte>> messages;
  std::uint64_t refused = 0;
  for (std::uint64_t tag = 0; refused == 0; ++tag) {
    messages.push_back(periodic_bytes(kLongestInRing, static_cast<unsigned>(tag)));
    const auto results = send_to_all(messages.back(), tag);
    EXPECT_EQ(results[0], PostResult::done);
    EXPECT_EQ(results[1], PostResult::done);
    expect(ends_[0], messages.back(), tag);
    expect(ends_[1], messages.back(), tag);
    if (results[2] == PostResult::again) refused = tag;
  }
  const std::uint64_t shared = sent_to(2, "shared");
  EXPECT_EQ(shared, local::SharedArea::kQuarters * (local::SharedArea::kQuarterBytes / kLongestInRing));
  EXPECT_EQ(sent_to(2, "ring"), refused - shared);
  EXPECT_GT(sent_to(2, "ring"), 0u);
  for (std::uint64_t tag = 0; tag < refused; ++tag) expect(ends_[2], messages[tag], tag);
  const std::vector<std::byte> later = periodic_bytes(kLongestInRing, 1000);
  EXPECT_EQ(send_to_all(later, refused + 1), kAllDone);
  for (End& each : ends_) expect(each, later, refused + 1);
  EXPECT_EQ(sent_to(2, "shared"), shared + 1);
}

TEST_F(CopiedOnce, AReceiverThatHasEndedHoldsNothingBack) {
  const std::vector<std::byte> message = periodic_bytes(kLongestInRing, 9);
  std::uint64_t tag = 0;
  const auto send_to_the_others = [&] {
    std::array<Addressee, 2> addressees{{{handles_[0], tag, &outcomes_[0]}, {handles_[1], tag, &outcomes_[1]}}};
    const iovec piece{const_cast<std::byte*>(message.data()), message.size()};
    sender_.post_send_to_all(addressees, {&piece, 1});
    for (std::size_t i = 0; i < 2; ++i) expect(ends_[i], message, tag);
    ++tag;
  };
  EXPECT_EQ(send_to_all(message, tag), kAllDone);
  for (std::size_t i = 0; i < 2; ++i) expect(ends_[i], message, tag);
  ++tag;
  while (sent_to(0, "ring") == 0) send_to_the_others();  // the third one's message is in their way
  ends_[2].provider->tell_closed();
  sender_.notice_close(handles_[2]);
  const std::uint64_t shared = sent_to(0, "shared");
  send_to_the_others();
  EXPECT_EQ(sent_to(0, "shared"), shared + 1);
}

// The last receiver reads nothing: its messages lie in the common ring, then in its own, then with the caller.
TEST_F(CopiedOnce, AFullRingRefusesItsOwnMessageAlone) {
  const std::vector<std::byte> message = periodic_bytes(8, 5);
  std::uint64_t tag = 0;
  auto results = send_to_all(message, tag);
  while (results[2] == PostResult::done) {
    expect(ends_[0], message, tag);
    expect(ends_[1], message, tag);
    results = send_to_all(message, ++tag);
  }
  EXPECT_EQ(results, (std::array{PostResult::done, PostResult::done, PostResult::again}));
  EXPECT_EQ(sent_to(2, "shared"), local::CommonRing::kCells);
  EXPECT_EQ(sent_to(2, "cell"), local::Ring::kCells);
  for (std::uint64_t each = 0; each < tag; ++each) expect(ends_[2], message, each);
  const iovec piece{const_cast<std::byte*>(message.data()), message.size()};
  EXPECT_EQ(sender_.post_send(handles_[2], {&piece, 1}, tag, outcomes_[2]), PostResult::done);
  for (End& each : ends_) expect(each, message, tag);
}

/// Its error handler sends to all, which a program cannot do, but what has waited for the failed message can.
struct SendsWhenItFails : Completion {
  SendsWhenItFails()
      : Completion([](Completion&, std::uint64_t, std::uint64_t) noexcept {},
                   [](Completion& self, const Status&) noexcept {
                     auto& its = static_cast<SendsWhenItFails&>(self);
                     its.send();
                   }) {}
  std::function<void()> send;
};

TEST_F(CopiedOnce, WhatFailsHoldsUpNoOther) {
  ends_[0].provider->tell_closed();
  sender_.notice_close(handles_[0]);
  const std::vector<std::byte> outer = periodic_bytes(kLongestInRing, 1);
  std::deque<std::vector<std::byte>> inner;
  SendsWhenItFails fails;
  // More than the area holds.
  fails.send = [&] {
    for (unsigned i = 0; i < 40; ++i) {
      inner.push_back(periodic_bytes(kLongestInRing, 100 + i));
      std::array<Outcome, 2> outcomes;
      std::array<Addressee, 2> addressees{{{handles_[1], 100 + i, &outcomes[0]}, {handles_[2], 100 + i, &outcomes[1]}}};
      const iovec piece{inner.back().data(), kLongestInRing};
      sender_.post_send_to_all(addressees, {&piece, 1});
      for (std::size_t k = 0; k < 2; ++k) {
        ASSERT_EQ(addressees[k].result, PostResult::done);
        expect(ends_[k + 1], inner.back(), 100 + i);
      }
    }
  };
  std::array<Addressee, kReceivers> addressees{
      {{handles_[0], 1, &fails}, {handles_[1], 1, &outcomes_[1]}, {handles_[2], 1, &outcomes_[2]}}};
  const iovec piece{const_cast<std::byte*>(outer.data()), outer.size()};
  sender_.post_send_to_all(addressees, {&piece, 1});
  EXPECT_EQ(addressees[0].result, PostResult::pending);
  EXPECT_EQ(inner.size(), 40u);
  expect(ends_[1], outer, 1);
  expect(ends_[2], outer, 1);
  for (const std::size_t i : {1u, 2u}) EXPECT_EQ(sent_to(i, "shared"), 41u);
}

}  // namespace
}  // namespace fab::test
