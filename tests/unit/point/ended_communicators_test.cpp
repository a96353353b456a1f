// What a rank keeps of communicators that it has ended.
#include <gmock/gmock.h>

#include <utility>

#include "unit/point/point_to_point_fixture.h"

namespace fab::test::point {
namespace {

class EndedCommunicators : public PointToPoint {
 protected:
  EndedCommunicators() : job_(2, caller_config(), options(7)) {}

  /// For which that rank keeps something.
  [[nodiscard]] std::size_t kept_at(Rank rank) {
    core::Context& context = job_.context(rank);
    const core::Lock lock(context.engine());
    return context.point_to_point().queues();
  }
  /// From rank 0 to rank 1.
  void exchange(const InProcessJob::Communicators& communicators, std::uint32_t number) {
    Operation sent{communicators[0].get(), data(number, 100)};
    Operation received{communicators[1].get(), std::vector<std::byte>(100)};
    send(sent, {1, Tag{1}});
    receive(received, {0, Tag{1}});
    progress_until(job_, [&] { return sent.done() && received.done(); });
    sent.end();
    received.end();
    EXPECT_EQ(received.memory, data(number, 100));
  }
  /// Looks for a message there, in vain.
  static void take_part(core::Communicator& communicator) {
    const core::Lock lock(communicator.engine());
    EXPECT_EQ(point_to_point(communicator).find(communicator, {1, Tag{99}}), std::nullopt);
  }

  InProcessJob job_;
};

TEST_P(EndedCommunicators, LeaveNothingBehind) {
  for (std::uint32_t number = 0; number < 1000; ++number) {
    const auto communicators = job_.communicators(no_topology);
    ASSERT_NO_FATAL_FAILURE(exchange(communicators, number));
  }
  progress(job_, 1);
  EXPECT_EQ(kept_at(0), 0u);
  EXPECT_EQ(kept_at(1), 0u);
  expect_nothing_left(job_, 2);
}

TEST_P(EndedCommunicators, KeepNothingWhileAnotherOneIsThere) {
  const auto other = job_.communicators(no_topology);
  ASSERT_NO_FATAL_FAILURE(exchange(other, 0));
  for (std::uint32_t number = 1; number < 10; ++number) {
    ASSERT_NO_FATAL_FAILURE(exchange(job_.communicators(no_topology), number));
    ASSERT_NO_FATAL_FAILURE(exchange(other, number));
  }
  progress(job_, 1);
  EXPECT_EQ(kept_at(1), 1u);
}

// The job's own communicator has several handles, whose messages are the same.
TEST_P(EndedCommunicators, LeaveThoseOfTheJobItself) {
  for (std::uint32_t number = 0; number < 3; ++number) {
    const InProcessJob::Communicators worlds{core::Communicator::world(job_.context(0).shared_from_this()),
                                             core::Communicator::world(job_.context(1).shared_from_this())};
    const auto second = core::Communicator::world(job_.context(1).shared_from_this());
    Operation waiting{second.get(), std::vector<std::byte>(100)};
    receive(waiting, {0, Tag{2}});
    ASSERT_NO_FATAL_FAILURE(exchange(worlds, number));
    Operation sent{worlds[0].get(), data(number, 100)};
    send(sent, {1, Tag{2}});
    ASSERT_NO_FATAL_FAILURE(progress_until(job_, [&] { return sent.done() && waiting.done(); }));
    sent.end();
    waiting.end();
    EXPECT_EQ(waiting.memory, data(number, 100));
  }
  progress(job_, 1);
  EXPECT_LE(kept_at(1), 1u);
}

// More than a receiver keeps: the sender has its credits back each time.
TEST_P(EndedCommunicators, DropMessagesThatWereNotReceived) {
  constexpr std::size_t kBytes = 8000;
  const std::uint32_t messages = 3 * static_cast<std::uint32_t>(core::kWindow / core::credits_for(kBytes));
  for (std::uint32_t number = 0; number < messages; ++number) {
    const auto communicators = job_.communicators(no_topology);
    take_part(*communicators[1]);
    Operation sent{communicators[0].get(), data(number, kBytes)};
    send(sent, {1, Tag{7}});
    ASSERT_NO_FATAL_FAILURE(progress_until(job_, [&] { return sent.done(); }));
    sent.end();
    EXPECT_TRUE(sent.status.ok()) << sent.status.message;
    // It may still be on its way: another one follows it.
    ASSERT_NO_FATAL_FAILURE(exchange(communicators, number + 1));
  }
  progress(job_, 1);
  EXPECT_EQ(kept_at(1), 0u);
}

TEST_P(EndedCommunicators, RefuseMessagesThatWait) {
  for (const SendMode mode : {SendMode::standard, SendMode::synchronous, SendMode::buffered})
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{70'000}}) {
      if (mode != SendMode::synchronous && bytes == 100) continue;  // leaves, and is complete
      auto communicators = job_.communicators(no_topology);
      take_part(*communicators[1]);
      Operation sent{communicators[0].get(), data(1, bytes)};
      send(sent, {1, Tag{7}}, mode);
      ASSERT_NO_FATAL_FAILURE(exchange(communicators, 2));  // so it has come
      communicators[1].reset();
      ASSERT_NO_FATAL_FAILURE(progress_until(job_, [&] { return sent.done(); }));
      sent.end();
      if (mode == SendMode::buffered) {
        EXPECT_TRUE(sent.status.ok()) << sent.status.message;
        continue;
      }
      EXPECT_EQ(sent.status.errc(), Errc::mismatch);
      EXPECT_THAT(sent.status.message, testing::HasSubstr("the receiver has ended the communicator"));
    }
  expect_nothing_left(job_, 2);
  EXPECT_EQ(kept_at(1), 0u);
}

// A receive that its user has let go of outlives the communicator.
TEST_P(EndedCommunicators, KeepWhatAReceiveWaitsFor) {
  auto communicators = job_.communicators(no_topology);
  Operation received{communicators[1].get(), std::vector<std::byte>(100)};
  receive(received, {0, Tag{3}});
  {
    const core::Lock lock(communicators[1]->engine());
    std::exchange(received.pending, nullptr)->let_go();
  }
  communicators[1].reset();
  progress(job_, 10);
  EXPECT_EQ(kept_at(1), 1u);
  Operation sent{communicators[0].get(), data(3, 100)};
  send(sent, {1, Tag{3}});
  ASSERT_NO_FATAL_FAILURE(progress_until(job_, [&] { return sent.done() && received.memory == data(3, 100); }));
  sent.end();
  ASSERT_NO_FATAL_FAILURE(exchange(job_.communicators(no_topology), 4));  // ends after it
  progress(job_, 1);
  EXPECT_EQ(kept_at(1), 0u);
  expect_nothing_left(job_, 2);
}

// No receive can take it, and it is in no other communicator's way.
TEST_P(EndedCommunicators, MayStillGetMessages) {
  auto communicators = job_.communicators(no_topology);
  ASSERT_NO_FATAL_FAILURE(exchange(communicators, 1));
  communicators[1].reset();
  progress(job_, 10);
  Operation late{communicators[0].get(), data(2, 100)};
  send(late, {1, Tag{1}});
  ASSERT_NO_FATAL_FAILURE(progress_until(job_, [&] { return late.done(); }));
  late.end();
  ASSERT_NO_FATAL_FAILURE(exchange(job_.communicators(no_topology), 3));
  progress(job_, 1);
  EXPECT_EQ(kept_at(1), 1u);
}

INSTANTIATE_TEST_SUITE_P(Networks, EndedCommunicators, kNetworks);

}  // namespace
}  // namespace fab::test::point
