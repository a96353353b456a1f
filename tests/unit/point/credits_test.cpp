// How many messages leave before they are received, and how many short ones leave together.
#include <algorithm>
#include <deque>

#include "core/progress/driver.h"
#include "unit/point/point_to_point_fixture.h"

namespace fab::test::point {
namespace {

// Rank 0 sends more messages than rank 1 keeps, before that receives them.
TEST_P(PointToPoint, SendsBeyondTheWindowStayWithTheirSender) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{1000}, std::size_t{core::kEagerBytes}}) {
    SCOPED_TRACE(bytes);
    const int kept = core::kWindow / core::credits_for(bytes);
    const auto messages = static_cast<std::uint32_t>(kept) + 50;
    InProcessJob job(2, caller_config(), options(3));
    const auto communicators = job.communicators(no_topology);
    std::deque<Operation> sends;
    for (std::uint32_t i = 0; i < messages; ++i) {
      sends.push_back({communicators[0].get(), data(i, bytes)});
      send(sends.back(), {1, static_cast<Tag>(i)});
    }
    // Rank 1 receives nothing, but makes progress.
    Operation unrelated{communicators[1].get(), std::vector<std::byte>(bytes)};
    receive(unrelated, {1, Tag{0}});
    progress(job, 10'000);
    EXPECT_EQ(std::ranges::count_if(sends, &Operation::done), kept);
    // The last is received first.
    for (std::uint32_t i = messages; i-- > 0;) {
      Operation received{communicators[1].get(), std::vector<std::byte>(bytes)};
      receive(received, {0, static_cast<Tag>(i)});
      ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return received.done(); }));
      received.end();
      EXPECT_TRUE(received.status.ok());
      EXPECT_EQ(received.memory, data(i, bytes)) << i;
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return std::ranges::all_of(sends, &Operation::done); }));
    for (Operation& each : sends) each.end();
    {
      const core::Lock lock(communicators[1]->engine());
      unrelated.pending->cancel();
    }
    unrelated.end();
    EXPECT_EQ(unrelated.status.errc(), Errc::cancelled);
    expect_nothing_left(job, 2);
  }
}

// Those that are sent one after the other leave as a few; the first ones, and a lone one, leave at once.
TEST_P(PointToPoint, ManyShortMessagesLeaveInBundles) {
  constexpr std::uint32_t kMessages = 800;
  InProcessJob job(2, caller_config(), options(5));
  const auto communicators = job.communicators(no_topology);
  const auto exchange = [&](std::uint32_t messages, std::size_t bytes) {
    std::deque<Operation> sends;
    std::deque<Operation> receives;
    for (std::uint32_t i = 0; i < messages; ++i) {
      receives.push_back({communicators[1].get(), std::vector<std::byte>(bytes)});
      receive(receives.back(), {0, static_cast<Tag>(i)});
    }
    const std::uint64_t posted = job.network().sent(0).messages;
    for (std::uint32_t i = 0; i < messages; ++i) {
      sends.push_back({communicators[0].get(), data(i, bytes)});
      send(sends.back(), {1, static_cast<Tag>(i)}, i % 7 == 3 ? SendMode::synchronous : SendMode::standard);
    }
    progress_until(job, [&] {
      return std::ranges::all_of(sends, &Operation::done) && std::ranges::all_of(receives, &Operation::done);
    });
    for (std::uint32_t i = 0; i < messages; ++i) {
      sends[i].end();
      receives[i].end();
      EXPECT_TRUE(sends[i].status.ok() && receives[i].status.ok()) << i;
      EXPECT_EQ(receives[i].memory, data(i, bytes)) << i;
    }
    return job.network().sent(0).messages - posted;
  };
  static_cast<void>(exchange(1, 8));  // the ranks meet
  EXPECT_EQ(exchange(core::Bundles::kAlone, 8), static_cast<std::uint64_t>(core::Bundles::kAlone));
  const auto envelope_bytes = sizeof(core::Envelope) + 8;
  const auto of_a_bundle = core::Bundles::kMost / envelope_bytes;
  const auto bundles = (kMessages - core::Bundles::kAlone + of_a_bundle - 1) / of_a_bundle;
  EXPECT_EQ(exchange(kMessages, 8), core::Bundles::kAlone + bundles);
  expect_nothing_left(job, 2);
}

// The thread that waits may sleep until something comes, which would hold a bundle back.
TEST_P(PointToPoint, NoMessageWaitsInABundleWhileAThreadWaits) {
  constexpr std::uint32_t kMessages = 3 * core::Bundles::kAlone;
  NetworkOptions network = options(6);
  network.refused_percent = 0;
  InProcessJob job(2, caller_config(), network);
  const auto communicators = job.communicators(no_topology);
  std::deque<Operation> operations;
  const auto send_one = [&](std::uint32_t number) {
    operations.push_back({communicators[0].get(), data(number, 8)});
    send(operations.back(), {1, static_cast<Tag>(number)});
  };
  send_one(0);  // the ranks meet
  ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return operations.front().done(); }));
  const std::uint64_t sent = job.network().sent(0).messages;
  {
    const core::Driver waiting(job.context(0).engine());
    for (std::uint32_t i = 1; i <= kMessages; ++i) send_one(i);
    EXPECT_EQ(job.network().sent(0).messages - sent, kMessages);
  }
  for (std::uint32_t i = 0; i <= kMessages; ++i) {
    operations.push_back({communicators[1].get(), std::vector<std::byte>(8)});
    receive(operations.back(), {0, static_cast<Tag>(i)});
  }
  ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return std::ranges::all_of(operations, &Operation::done); }));
  for (Operation& each : operations) each.end();
  expect_nothing_left(job, 2);
}

}  // namespace
}  // namespace fab::test::point
