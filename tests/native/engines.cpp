// Contexts with several engines: each has a world of its own, threads of a rank use one each, and what waits for
// operations of several engines, or closes them, sees all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bindings/native/base/access.h"
#include "core/communicator/communicator.h"
#include "fab/fab.h"

namespace fab {
namespace {

constexpr int kEngines = 3;

class Engines : public testing::Test {
 protected:
  static Context& context() { return *opened; }
  static int rank() { return context().rank(); }
  static int size() { return context().size(); }

  static void SetUpTestSuite() { opened.emplace(Context::open({.engines = kEngines})); }
  static void TearDownTestSuite() { opened.reset(); }

 private:
  static inline std::optional<Context> opened;
};

/// A ring of all ranks.
Communicator ring_of(const Communicator& world) { return world.cartesian({world.size()}, {true}); }

TEST_F(Engines, HaveAWorldEach) {
  ASSERT_EQ(context().engines(), kEngines);
  EXPECT_EQ(&context().world(), &context().world(0));
  for (int engine = 0; engine < kEngines; ++engine) {
    EXPECT_EQ(context().world(engine).rank(), rank());
    EXPECT_EQ(context().world(engine).size(), size());
    for (int other = 0; other < engine; ++other)
      EXPECT_NE(&Access::core(context().world(engine))->engine(), &Access::core(context().world(other))->engine());
  }
  const Communicator ring = ring_of(context().world(2));
  EXPECT_EQ(&Access::core(ring)->engine(), &Access::core(context().world(2))->engine());
  EXPECT_EQ(&Access::core(ring.duplicate())->engine(), &Access::core(context().world(2))->engine());
}

TEST_F(Engines, RefuseNumbersThatThereAreNot) {
  const auto message_of = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.errc(), Errc::invalid_argument);
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message_of([] { static_cast<void>(context().world(3)); }),
              testing::HasSubstr("world: engine is 3; valid is 0 to 2"));
  EXPECT_THAT(message_of([] { static_cast<void>(context().world(-1)); }),
              testing::HasSubstr("world: engine is -1; valid is 0 to 2"));
  EXPECT_THAT(message_of([] { static_cast<void>(Context::open({.engines = 0})); }),
              testing::HasSubstr("open: engines is 0; valid is 1 to 64"));
  EXPECT_THAT(message_of([] { static_cast<void>(Context::open({.engines = 65})); }),
              testing::HasSubstr("open: engines is 65; valid is 1 to 64"));
}

TEST_F(Engines, NeedThreads) {
  ASSERT_EQ(::setenv("FAB_PROGRESS", "caller", 1), 0);
  try {
    static_cast<void>(Context::open({.engines = 2}));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::configuration);
    EXPECT_THAT(error.what(), testing::HasSubstr("2 engines need progress threads, which FAB_PROGRESS=caller leaves "
                                                 "out; valid is 1 engine"));
  }
  ASSERT_EQ(::unsetenv("FAB_PROGRESS"), 0);
}

// Messages of one engine meet none of another, though communicators, tags and sizes are the same.
TEST_F(Engines, CarryMessagesApart) {
  const int next = (rank() + 1) % size();
  const int previous = (rank() + size() - 1) % size();
  std::array<std::array<int, 1>, kEngines> out{};
  std::array<std::array<int, 1>, kEngines> in{};
  std::vector<Request> requests;
  for (int engine = 0; engine < kEngines; ++engine) {
    std::array<int, 1>& sent = out[static_cast<std::size_t>(engine)];
    sent = {rank() * 10 + engine};
    requests.push_back(isend(context().world(engine), sent, {next, Tag{7}}));
  }
  for (int engine = kEngines - 1; engine >= 0; --engine)
    requests.push_back(irecv(context().world(engine), in[static_cast<std::size_t>(engine)], {previous, Tag{7}}));
  Request::wait_all(requests);
  for (int engine = 0; engine < kEngines; ++engine)
    EXPECT_EQ(in[static_cast<std::size_t>(engine)][0], previous * 10 + engine);
}

void exchange(const Communicator& ring, int thread, int repetitions) {
  const int size = ring.size();
  const int next = (ring.rank() + 1) % size;
  const int previous = (ring.rank() + size - 1) % size;
  for (int i = 0; i < repetitions; ++i) {
    const std::array<int, 2> out{ring.rank() * 1000 + i, -ring.rank() * 1000 - i};
    std::array<int, 2> in{};
    neighbor_xchg(ring, out, in);
    ASSERT_EQ(in[0], -next * 1000 - i) << thread;
    ASSERT_EQ(in[1], previous * 1000 + i) << thread;
    int sum = 0;
    const int mine = ring.rank() + thread + i;
    allreduce(ring, mine, sum, ReduceOp::sum);
    ASSERT_EQ(sum, size * (size - 1) / 2 + size * (thread + i)) << thread;
  }
}

TEST_F(Engines, AreDrivenByAThreadEach) {
  constexpr int kThreads = 5;  // two engines have two threads
  std::vector<Communicator> rings;
  for (int thread = 0; thread < kThreads; ++thread) rings.push_back(ring_of(context().world(thread % kEngines)));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] { exchange(rings[static_cast<std::size_t>(thread)], thread, 100); });
  for (std::thread& each : threads) each.join();
}

// The last rank's message for each engine comes once it knows that this rank waits.
TEST_F(Engines, AreWaitedForTogether) {
  const Communicator& world = context().world();
  for (int engine = 0; engine < kEngines; ++engine) {
    std::array<std::array<int, 1>, kEngines> in{};
    std::vector<Request> receives;
    const int last = size() - 1;
    for (int of = 0; of < kEngines; ++of)
      receives.push_back(irecv(context().world(of), in[static_cast<std::size_t>(of)], {last, Tag{of}}));
    barrier(world);
    const auto send_to_all = [&](int of, int value) {
      if (rank() != last) return;
      const std::array<int, 1> out{value};
      for (int to = 0; to < size(); ++to) send(context().world(of), out, {to, Tag{of}});
    };
    std::thread sender([&] { send_to_all(engine, 100 + engine); });
    const std::vector<Waitable> all(receives.begin(), receives.end());
    EXPECT_EQ(wait_any(all), static_cast<std::size_t>(engine));
    EXPECT_EQ(in[static_cast<std::size_t>(engine)][0], 100 + engine);
    sender.join();
    receives[static_cast<std::size_t>(engine)].wait();
    std::vector<Waitable> left;
    for (int of = 0; of < kEngines; ++of)
      if (of != engine) left.emplace_back(receives[static_cast<std::size_t>(of)]);
    EXPECT_EQ(wait_any_until(left, std::chrono::steady_clock::now() + std::chrono::milliseconds(3)), std::nullopt);
    barrier(world);
    for (int of = 0; of < kEngines; ++of)
      if (of != engine) send_to_all(of, of);
    for (int of = 0; of < kEngines; ++of)
      if (of != engine) receives[static_cast<std::size_t>(of)].wait();
  }
}

TEST_F(Engines, TellOneDescriptor) {
  const int fd = context().event_fd();
  for (int engine = 0; engine < kEngines; ++engine) {
    context().clear_events();
    std::array<int, 1> in{};
    const std::array<int, 1> out{rank()};
    Request receive = irecv(context().world(engine), in, {rank(), Tag{engine}});
    Request sent = isend(context().world(engine), out, {rank(), Tag{engine}});
    pollfd event{fd, POLLIN, 0};
    while (!receive.test()) ASSERT_GE(::poll(&event, 1, 100), 0);
    receive.wait();
    sent.wait();
    EXPECT_EQ(::poll(&event, 1, 0), 1) << engine;
  }
}

TEST_F(Engines, CountTogether) {
  const Statistics before = context().statistics();
  for (int engine = 0; engine < kEngines; ++engine) barrier(context().world(engine));
  const Statistics after = context().statistics();
  EXPECT_EQ(after.totals().calls, before.totals().calls + kEngines);
  for (const char* name : {"world", "world@1", "world@2"})
    EXPECT_TRUE(std::ranges::any_of(after.operations, [&](const OperationStatistics& each) {
      return each.communicator == name && each.operation == "barrier";
    })) << name;
  EXPECT_TRUE(std::ranges::is_sorted(after.peers, std::ranges::less_equal(), &PeerStatistics::rank));
}

}  // namespace
}  // namespace fab
