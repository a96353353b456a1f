// Long messages within a node that both ends copy: the division of the work, and that every byte arrives.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "unit/support/local_ends.h"

namespace fab::test {
namespace {

/// Messages whose copying both ends may share, from left to right.
class SharedCopy : public LocalEnds {
 protected:
  static constexpr std::size_t kMiB = 1024 * 1024;  // what an end copies in a poll

  /// Announces a message that waits for nothing but its copying.
  void begin(std::size_t bytes) {
    sent_ = &messages_.emplace_back(periodic_bytes(bytes, static_cast<unsigned>(bytes)));
    received_ = &messages_.emplace_back(std::vector<std::byte>(bytes));
    receive(*received_, 1);
    const iovec halves[] = {{sent_->memory.data(), bytes / 3}, {sent_->memory.data() + bytes / 3, bytes - bytes / 3}};
    ASSERT_EQ(left_.post_send(to_right_, halves, 1, sent_->outcome), PostResult::pending);
  }
  void finish() {
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(messages_));
    EXPECT_TRUE(received_->outcome.status.ok());
    EXPECT_TRUE(same(sent_->memory, received_->memory));
  }
  /// Whether a message of about 6 MiB is there after fewer looks of the right end's than it needs alone.
  [[nodiscard]] bool left_helps() {
    for (local::LocalProvider* end : {&right_, &left_, &right_, &left_, &left_, &left_, &right_}) end->poll();
    const bool helped = received_->outcome.ended;
    finish();
    return helped;
  }

  std::deque<Message> messages_;
  Message* sent_ = nullptr;
  Message* received_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Ways, SharedCopy, testing::Values(kWays[0], kWays[1]), name_of);

TEST_P(SharedCopy, ASenderThatWaitsHelps) {
  for (const std::size_t bytes : {6 * kMiB, 6 * kMiB, 6 * kMiB - 77}) {
    begin(bytes);
    EXPECT_TRUE(left_helps());
  }
}

TEST_P(SharedCopy, OneThatReceivesDoesNot) {
  for (const bool receives_first : {true, false}) {
    Message other{std::vector<std::byte>(kMiB)};
    const auto post_other = [&] {
      const iovec piece{other.memory.data(), other.memory.size()};
      ASSERT_EQ(left_.post_recv(to_right_, {&piece, 1}, 5, 0, other.outcome), PostResult::pending);
    };
    if (receives_first) post_other();
    begin(6 * kMiB);
    if (!receives_first) post_other();
    EXPECT_FALSE(left_helps());
    left_.cancel(other.outcome);
    begin(6 * kMiB);
    EXPECT_TRUE(left_helps());
  }
}

// It has copied what it received, and what it sends lies in the other's cache.
TEST_P(SharedCopy, OneThatHasReceivedSinceDoesNot) {
  Message there{periodic_bytes(kMiB, 5)};
  Message here{std::vector<std::byte>(kMiB)};
  begin(6 * kMiB);
  const iovec to{here.memory.data(), here.memory.size()};
  const iovec from{there.memory.data(), there.memory.size()};
  ASSERT_EQ(left_.post_recv(to_right_, {&to, 1}, 5, 0, here.outcome), PostResult::pending);
  ASSERT_EQ(right_.post_send(from_left_, {&from, 1}, 5, there.outcome), PostResult::pending);
  left_.poll();
  EXPECT_TRUE(here.outcome.ended);
  EXPECT_FALSE(left_helps());
  EXPECT_TRUE(same(here.memory, there.memory));
  while (!there.outcome.ended) poll();
}

TEST_P(SharedCopy, NeitherWaitsForOneThatDoesNotLook) {
  for (const std::size_t bytes : {kMiB, 3 * kMiB + 1}) {
    begin(bytes);
    for (std::size_t turn = 0; turn <= bytes / kMiB; ++turn) right_.poll();
    EXPECT_TRUE(received_->outcome.ended);
    finish();
  }
}

TEST_P(SharedCopy, NorForOneThatLooksOnce) {
  begin(6 * kMiB);
  right_.poll();
  left_.poll();
  for (int turn = 0; turn < 4; ++turn) right_.poll();
  EXPECT_TRUE(received_->outcome.ended);
  finish();
}

TEST_P(SharedCopy, OneThatMayNotWriteLeavesItToTheReceiver) {
  std::thread([this] {
    ASSERT_TRUE(forbid(SYS_process_vm_writev));
    for (int repeat = 0; repeat < 2; ++repeat) {
      begin(6 * kMiB);
      EXPECT_FALSE(left_helps());
    }
  }).join();
}

// Reading is forbidden while the sender helps.
TEST_P(SharedCopy, AReceiverThatMayNotReadAnyMoreIsSentEverything) {
  std::thread([this] {
    begin(6 * kMiB);
    right_.poll();
    left_.poll();
    ASSERT_TRUE(forbid(SYS_process_vm_readv));
    right_.poll();
    left_.poll();
    // From now on only what is sent comes, from the first byte on.
    const std::span end = std::span(received_->memory).last(5 * kMiB);
    std::memset(end.data(), 0xee, end.size());
    for (int turn = 0; turn < 10; ++turn) left_.poll();
    EXPECT_TRUE(same(end, std::vector<std::byte>(end.size(), std::byte{0xee})));
    finish();
    begin(2 * kMiB);
    finish();
  }).join();
}

TEST_P(SharedCopy, EveryByteComesInAnyOrderOfLooks) {
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    messages_.clear();
    const std::size_t count = 1 + random() % 3;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t bytes = 200'000 + random() % 2'500'000;
      const std::size_t more = random() % 3 * 1000;
      Message& sent = messages_.emplace_back(periodic_bytes(bytes, static_cast<unsigned>(random())));
      receive(messages_.emplace_back(std::vector<std::byte>(bytes + more)), i);
      send(sent, i);
    }
    const auto all_ended = [&] {
      return std::ranges::all_of(messages_, [](const Message& each) { return each.outcome.ended; });
    };
    while (!all_ended()) static_cast<void>(random() % 2 == 0 ? left_.poll() : right_.poll());
    for (std::size_t i = 0; i < messages_.size(); i += 2) {
      const std::span sent(messages_[i].memory);
      const std::span received(messages_[i + 1].memory);
      EXPECT_EQ(messages_[i + 1].outcome.bytes, sent.size());
      EXPECT_TRUE(same(sent, received.first(sent.size())));
      EXPECT_TRUE(same(received.subspan(sent.size()), std::vector<std::byte>(received.size() - sent.size())));
    }
  }
}

TEST_P(SharedCopy, EndsThatLookAtOnce) {
  for (int round = 0; round < 8; ++round) {
    begin(2 * kMiB + static_cast<std::size_t>(round) * 4001);
    std::jthread left([this] {
      while (!sent_->outcome.ended) left_.poll();
    });
    while (!received_->outcome.ended) right_.poll();
    left.join();
    EXPECT_TRUE(same(sent_->memory, received_->memory));
  }
}

}  // namespace
}  // namespace fab::test
