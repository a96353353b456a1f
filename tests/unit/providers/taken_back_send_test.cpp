// Long sends within a node whose caller gives their memory up before the receiver has copied it.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "unit/support/local_ends.h"

namespace fab::test {
namespace {

/// The caller's memory holds something else from the moment at which it has it back.
class TakenBackSendTest : public LocalEnds {
 protected:
  static constexpr std::size_t kLong = 3'000'000;

  static void overwrite(Message& message) { std::ranges::fill(message.memory, std::byte{0xee}); }
  void take_back(Message& sent) {
    ASSERT_TRUE(left_.take_back(sent.outcome));
    ASSERT_TRUE(sent.outcome.ended);
    overwrite(sent);
  }
  void poll_for_a_while() {
    for (int turn = 0; turn < 1000; ++turn) poll();
  }

  std::deque<Message> messages_;
  Message& sent_ = messages_.emplace_back(periodic_bytes(kLong, 3));
  Message& received_ = messages_.emplace_back(std::vector<std::byte>(kLong));
  Message& notice_ = messages_.emplace_back(periodic_bytes(8, 5));
};

TEST_P(TakenBackSendTest, BringsNothingAndLeavesTheReceiveToTheNextMessage) {
  as_the_way_says(GetParam(), [this] {
    send(sent_, 7);
    take_back(sent_);
    EXPECT_EQ(sent_.outcome.status.errc(), Errc::cancelled);
    receive(received_, 7);
    poll_for_a_while();
    EXPECT_FALSE(received_.outcome.ended) << "it must not pass for the message";
    send(notice_, 7);
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(messages_));
    EXPECT_TRUE(received_.outcome.status.ok());
    EXPECT_EQ(received_.outcome.bytes, 8u);
    EXPECT_TRUE(std::ranges::equal(notice_.memory, received_.memory.first(8)));
    EXPECT_FALSE(left_.busy());
    EXPECT_FALSE(right_.busy());
  });
}

TEST_P(TakenBackSendTest, LeavesTheReceiveToAMessageThatCameBefore) {
  as_the_way_says(GetParam(), [this] {
    send(sent_, 7);
    take_back(sent_);
    send(notice_, 7);
    right_.poll();
    receive(received_, 7);
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(messages_));
    EXPECT_EQ(received_.outcome.bytes, 8u);
  });
}

// One poll copies a part of it.
TEST_P(TakenBackSendTest, InTheMiddleEndsWithAllOfItOrNothing) {
  as_the_way_says(GetParam(), [this] {
    send(sent_, 7);
    receive(received_, 7);
    right_.poll();
    left_.poll();
    if (!sent_.outcome.ended) take_back(sent_);
    poll_for_a_while();
    if (received_.outcome.ended) {
      EXPECT_TRUE(sent_.outcome.status.ok());
      EXPECT_TRUE(same(received_.memory, periodic_bytes(kLong, 3)));
      return;
    }
    EXPECT_EQ(sent_.outcome.status.errc(), Errc::cancelled);
    send(notice_, 7);
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(messages_));
    EXPECT_EQ(received_.outcome.bytes, 8u);
  });
}

TEST_P(TakenBackSendTest, SparesOtherMessages) {
  as_the_way_says(GetParam(), [this] {
    Message& other = messages_.emplace_back(periodic_bytes(kLong, 4));
    Message& other_received = messages_.emplace_back(std::vector<std::byte>(kLong));
    send(sent_, 7);
    send(other, 8);
    take_back(sent_);
    receive(other_received, 8);
    for (int turn = 0; turn < 10'000 && !other_received.outcome.ended; ++turn) poll();
    ASSERT_TRUE(other_received.outcome.ended);
    EXPECT_TRUE(other_received.outcome.status.ok());
    EXPECT_TRUE(same(other_received.memory, other.memory));
    poll_for_a_while();
    EXPECT_TRUE(other.outcome.ended);
    EXPECT_TRUE(other.outcome.status.ok());
  });
}

TEST_P(TakenBackSendTest, IsForgottenWhereNoReceiveHasMetIt) {
  as_the_way_says(GetParam(), [this] {
    send(sent_, 7);
    send(notice_, 8);
    Message& other = messages_.emplace_back(std::vector<std::byte>(8));
    receive(other, 8);
    while (!other.outcome.ended) poll();
    take_back(sent_);
    Message& last = messages_.emplace_back(periodic_bytes(8, 6));
    send(last, 9);
    Message& last_received = messages_.emplace_back(std::vector<std::byte>(8));
    receive(last_received, 9);
    poll_for_a_while();
    EXPECT_TRUE(last_received.outcome.ended);
    EXPECT_FALSE(left_.busy()) << "nothing is kept for it";
    receive(received_, 7);
    poll_for_a_while();
    EXPECT_FALSE(received_.outcome.ended);
  });
}

TEST_P(TakenBackSendTest, EndsAReceiveThatIsCancelledMeanwhile) {
  as_the_way_says(GetParam(), [this] {
    send(sent_, 7);
    take_back(sent_);
    receive(received_, 7);
    right_.poll();
    right_.cancel(received_.outcome);
    poll_for_a_while();
    ASSERT_TRUE(received_.outcome.ended);
    EXPECT_EQ(received_.outcome.status.errc(), Errc::cancelled);
    EXPECT_FALSE(right_.busy());
  });
}

TEST_P(TakenBackSendTest, IsNoneOnceItHasEnded) {
  as_the_way_says(GetParam(), [this] {
    send(sent_, 7);
    receive(received_, 7);
    while (!sent_.outcome.ended || !received_.outcome.ended) poll();
    EXPECT_FALSE(left_.take_back(sent_.outcome));
    EXPECT_TRUE(same(received_.memory, sent_.memory));
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, TakenBackSendTest, testing::ValuesIn(kWays), name_of);

}  // namespace
}  // namespace fab::test
