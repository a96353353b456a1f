// Messages that find no receive, or too short a one, and operations that are given up.
#include <gmock/gmock.h>

#include <array>

#include "unit/point/point_to_point_fixture.h"

namespace fab::test::point {
namespace {

TEST_P(PointToPoint, TooLongMessagesWriteNothing) {
  for (const std::size_t bytes : {std::size_t{100}, core::kEagerBytes + 1, std::size_t{70'000}}) {
    InProcessJob job(2, caller_config(), options(1));
    const auto communicators = job.communicators(no_topology);
    Operation sent{communicators[0].get(), data(1, bytes)};
    Operation received{communicators[1].get(), std::vector<std::byte>(bytes - 1, std::byte{0xee})};
    send(sent, {1, Tag{7}}, SendMode::synchronous);
    receive(received, {0, Tag{7}});
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return sent.done() && received.done(); }));
    sent.end();
    received.end();
    EXPECT_TRUE(sent.status.ok());
    EXPECT_EQ(received.status.errc(), Errc::truncated);
    EXPECT_THAT(received.status.message, testing::HasSubstr(std::to_string(bytes) + " bytes with tag 7"));
    EXPECT_THAT(received.memory, testing::Each(std::byte{0xee}));
    expect_nothing_left(job, 2);
  }
}

TEST_P(PointToPoint, ReadySendsFailWithoutAReceive) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{70'000}}) {
    InProcessJob job(2, caller_config(), options(1));
    const auto communicators = job.communicators(no_topology);
    Operation unrelated{communicators[1].get(), std::vector<std::byte>(bytes)};
    receive(unrelated, {0, Tag{1}});
    Operation early{communicators[0].get(), data(1, bytes)};
    send(early, {1, Tag{0}}, SendMode::ready);
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return early.done(); }));
    early.end();
    EXPECT_EQ(early.status.errc(), Errc::mismatch);
    Operation late{communicators[0].get(), data(2, bytes)};
    send(late, {1, Tag{1}}, SendMode::ready);
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return late.done() && unrelated.done(); }));
    late.end();
    unrelated.end();
    EXPECT_TRUE(late.status.ok()) << late.status.message;
    EXPECT_EQ(unrelated.memory, data(2, bytes));
    expect_nothing_left(job, 2);
  }
}

TEST_P(PointToPoint, GivenUpOperationsHarmNoOthers) {
  const Status reason{make_error_code(Errc::timed_out), "given up"};
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const bool gives_up_send = seed % 2 == 0;
    InProcessJob job(2, caller_config(), options(seed));
    const auto communicators = job.communicators(no_topology);
    Operation sent{communicators[0].get(), data(1, 70'000)};
    Operation received{communicators[1].get(), std::vector<std::byte>(70'000, std::byte{0xee})};
    send(sent, {1, Tag{0}});
    receive(received, {0, Tag{0}});
    progress(job, static_cast<int>(seed));
    Operation& given_up = gives_up_send ? sent : received;
    {
      const core::Lock lock(given_up.communicator->engine());
      if (!given_up.done()) given_up.pending->abandon(reason);
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return received.done(); }));
    received.end();
    // A message whose receive was taken back before they met waits for another.
    progress(job, 500);
    if (!sent.done()) {
      Operation again{communicators[1].get(), std::vector<std::byte>(70'000)};
      receive(again, {0, Tag{0}});
      ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return again.done(); }));
      again.end();
      EXPECT_EQ(again.memory, data(1, 70'000));
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return sent.done(); }));
    sent.end();
    EXPECT_TRUE(!received.status.ok() || received.memory == data(1, 70'000));
    // What comes after them finds its way.
    Operation next{communicators[0].get(), data(2, 70'000)};
    Operation taken{communicators[1].get(), std::vector<std::byte>(70'000)};
    send(next, {1, Tag{1}});
    receive(taken, {0, Tag{1}});
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return next.done() && taken.done(); }));
    next.end();
    taken.end();
    EXPECT_EQ(taken.memory, data(2, 70'000));
    expect_nothing_left(job, 2);
  }
}

// Given up before, while and after its messages travel. What its partner sent to it, or has a receive for, stays.
TEST_P(PointToPoint, AGivenUpSendrecvHarmsNoOthers) {
  const Status reason{make_error_code(Errc::timed_out), "given up"};
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    InProcessJob job(2, caller_config(), options(seed));
    const auto communicators = job.communicators(no_topology);
    std::array<Operation, 2> both{Operation{communicators[0].get(), data(0, 70'000)},
                                  Operation{communicators[1].get(), data(1, 70'000)}};
    for (Rank rank = 0; rank < 2; ++rank) {
      Operation& operation = both[static_cast<std::size_t>(rank)];
      core::Communicator& communicator = *operation.communicator;
      const core::Lock lock(communicator.engine());
      operation.pending = &point_to_point(communicator)
                               .sendrecv_replace(communicator, {operation.memory.data(), operation.memory.size()},
                                                 {1 - rank, Tag{0}}, {1 - rank, Tag{0}});
      EXPECT_EQ(operation.pending->name(), "sendrecv_replace");
    }
    progress(job, static_cast<int>(seed));
    {
      const core::Lock lock(both[0].communicator->engine());
      if (!both[0].done()) {
        EXPECT_THAT(both[0].pending->describe_pending(),
                    testing::AnyOf(testing::HasSubstr("send to rank 1"), testing::HasSubstr("receive from rank 1")));
        both[0].pending->abandon(reason);
      }
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return both[0].done(); }));
    both[0].end();
    progress(job, 500);
    if (!both[1].done()) {
      const core::Lock lock(both[1].communicator->engine());
      both[1].pending->abandon(reason);
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return both[1].done(); }));
    both[1].end();
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      EXPECT_TRUE(!both[rank].status.ok() || both[rank].memory == data(1 - rank, 70'000)) << rank;
    const bool gave_up = !both[0].status.ok();
    EXPECT_TRUE(!gave_up || both[0].status.errc() == Errc::timed_out) << both[0].status.message;
    // The send of rank 0 was cancelled, or nothing came of it.
    if (!both[1].status.ok()) {
      EXPECT_TRUE(gave_up);
      EXPECT_THAT(both[1].status.errc(), testing::AnyOf(Errc::timed_out, Errc::cancelled));
    }
    // What is left of it meets others.
    std::array<Operation, 2> out{Operation{communicators[0].get(), data(2, 10)},
                                 Operation{communicators[1].get(), data(3, 10)}};
    std::array<Operation, 2> in{Operation{communicators[0].get(), std::vector<std::byte>(10)},
                                Operation{communicators[1].get(), std::vector<std::byte>(10)}};
    for (std::size_t rank = 0; rank < 2; ++rank) {
      send(out[rank], {static_cast<Rank>(1 - rank), Tag{1}});
      receive(in[rank], {static_cast<Rank>(1 - rank), Tag{1}});
    }
    ASSERT_NO_FATAL_FAILURE(
        progress_until(job, [&] { return out[0].done() && out[1].done() && in[0].done() && in[1].done(); }));
    for (std::size_t rank = 0; rank < 2; ++rank) {
      out[rank].end();
      in[rank].end();
      EXPECT_EQ(in[rank].memory, data(static_cast<std::uint32_t>(3 - rank), 10));
    }
  }
}

}  // namespace
}  // namespace fab::test::point
