// Programs that sleep in poll(): on the descriptor that fab raises when something has ended.
#include <gmock/gmock.h>
#include <poll.h>

#include <array>
#include <coroutine>
#include <exception>
#include <utility>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

class Events : public test::OnAllRanks {
 protected:
  /// Sleeps until the descriptor is readable. No limit: a wake-up that is lost ends in the limit of the test.
  static void sleep() {
    pollfd event{context().event_fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&event, 1, -1), 1);
  }
  static bool raised() {
    pollfd event{context().event_fd(), POLLIN, 0};
    return ::poll(&event, 1, 0) == 1;
  }
  /// Makes no call of fab's but one test each time that it is told to.
  static void complete(Request& request) {
    while (!request.test()) {
      sleep();
      context().clear_events();
    }
  }
};

TEST_F(Events, TellWhatAnotherRankHasSent) {
  const int rounds = 300;
  for (int round = 0; round < rounds; ++round) {
    int in = -1;
    const int out = round;
    Request receive = irecv(world(), in, {previous(), Tag{1}});
    if (rank() == 0) send(world(), out, {next(), Tag{1}}, SendMode::buffered);
    complete(receive);
    ASSERT_EQ(in, round);
    if (rank() != 0) send(world(), out, {next(), Tag{1}}, SendMode::buffered);
  }
}

TEST_F(Events, TellOfExchangesAndLongMessages) {
  const Communicator comm = ring();
  for (const std::size_t elements : {1u, 1000u, 200'000u}) {
    const std::vector<double> out(2 * elements, rank());
    std::vector<double> in(2 * elements, -1);
    Request exchange = neighbor_xchg.start(comm, out, in);
    complete(exchange);
    EXPECT_EQ(in.front(), next());
    EXPECT_EQ(in.back(), previous());
  }
}

TEST_F(Events, AreQuietWhereNothingEnds) {
  int in = -1;
  Request receive = irecv(world(), in, {previous(), Tag{2}});
  barrier(world());
  EXPECT_EQ(context().event_fd(), context().event_fd());
  context().clear_events();
  EXPECT_FALSE(raised());
  const Communicator other = world().duplicate();
  barrier(other);
  const int out = 5;
  Request sent = isend(world(), out, {next(), Tag{2}});
  complete(receive);
  EXPECT_EQ(in, 5);
  sent.wait();
}

// The progress thread calls nothing of the user's, so it asks for a call.
TEST_F(Events, AskForAThreadWhereAFunctionOfTheUsersIsDue) {
  struct Sum {
    std::int64_t operator()(const std::int64_t& lower, const std::int64_t& higher) const { return lower + higher; }
  };
  const Sum sum;
  for (int round = 0; round < 20; ++round) {
    std::int64_t number = rank();
    Request request = allreduce.start(world(), number, Operator::of<std::int64_t>(sum, true));
    complete(request);
    ASSERT_EQ(number, std::int64_t{size()} * (size() - 1) / 2);
  }
}

TEST_F(Events, CallBack) {
  Completions completions(context());
  std::array<int, 3> in{-1, -1, -1};
  const int out = rank();
  std::vector<int> order;
  for (int tag = 0; tag < 3; ++tag)
    completions.when_done(irecv(world(), in[static_cast<std::size_t>(tag)], {previous(), Tag{tag}}),
                          [&order, tag](const Status& status) {
                            EXPECT_TRUE(status.ok()) << status.message;
                            order.push_back(tag);
                          });
  EXPECT_EQ(completions.size(), 3u);
  for (int tag = 0; tag < 3; ++tag) send(world(), out, {next(), Tag{tag}});
  completions.run();
  EXPECT_EQ(completions.size(), 0u);
  EXPECT_THAT(order, testing::UnorderedElementsAre(0, 1, 2));
  EXPECT_THAT(in, testing::Each(previous()));
  // A callback may add requests; a failure is told.
  std::array<int, 1> little{};
  const std::array<int, 2> much{};
  Status failure;
  completions.when_done(barrier.start(world()), [&](const Status&) {
    completions.when_done(irecv(world(), little, {previous(), Tag{9}}),
                          [&](const Status& status) { failure = status; });
    completions.when_done(isend(world(), much, {next(), Tag{9}}), [](const Status&) {});
  });
  completions.run();
  EXPECT_EQ(failure.errc(), Errc::truncated) << failure.message;
}

/// Runs at once until it waits for something; no caller waits for its end.
struct Task {
  struct promise_type {  // NOLINT(readability-identifier-naming): the language's name
    Task get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

Task pass_a_token(const Communicator& world, Completions& completions, int laps, int& token) {
  const Rank next = (world.rank() + 1) % world.size();
  const Rank previous = (world.rank() + world.size() - 1) % world.size();
  for (int lap = 0; lap < laps; ++lap) {
    if (world.rank() == 0) co_await completions.done(isend(world, token, {next, Tag{7}}));
    co_await completions.done(irecv(world, token, {previous, Tag{7}}));
    ++token;
    if (world.rank() != 0) co_await completions.done(isend(world, token, {next, Tag{7}}));
  }
}

Task fail(const Communicator& world, Completions& completions, Errc& outcome) {
  int never = 0;
  Request receive = irecv(world, never, {kAnySource, Tag{11}});
  receive.cancel();
  try {
    co_await completions.done(std::move(receive));
  } catch (const Error& error) {
    outcome = error.errc();
  }
}

TEST_F(Events, ResumeCoroutines) {
  if (size() < 2) GTEST_SKIP() << "a token needs two ranks";
  Completions completions(context());
  int token = 0;
  Errc outcome{};
  pass_a_token(world(), completions, 50, token);
  fail(world(), completions, outcome);
  completions.run();
  EXPECT_EQ(token, rank() == 0 ? 50 * size() : 49 * size() + rank());
  EXPECT_EQ(outcome, Errc::cancelled);
  barrier(world());
}

using WithoutAThread = test::OnAllRanks;

TEST_F(WithoutAThread, NoDescriptorIsGivenOut) {
  try {
    static_cast<void>(context().event_fd());
    ADD_FAILURE() << "a descriptor that is never raised";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::configuration);
    EXPECT_THAT(error.what(), testing::HasSubstr("FAB_PROGRESS=caller"));
  }
}

}  // namespace
}  // namespace fab
