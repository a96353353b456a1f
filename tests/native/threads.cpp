// Several threads of a rank, each in calls of its own: while one sleeps another one polls, and the sleeper is woken all
// the same. No clock decides: a sleep that its time limit ended although something had come is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "bindings/native/base/access.h"
#include "core/communicator/communicator.h"
#include "core/context.h"
#include "fab/fab.h"
#include "native/support/on_all_ranks.h"
#include "support/head_start.h"

namespace fab {
namespace {

/// What a thread does, again and again.
enum class Calls { blocking, waiting, testing, messages };

struct Mix {
  const char* name;
  std::vector<Calls> calls;  ///< of the threads, in turn
};

class ThreadsOfARank : public test::OnAllRanks {
 protected:
  static constexpr int kRepetitions = 240;  ///< of all threads of a rank together

  static std::uint64_t count(core::Counter counter) { return Access::core(world())->context().counters()[counter]; }

  /// Lets the other end wait, and fall asleep, now and then.
  class Pause {
   public:
    explicit Pause(int seed) : random_(static_cast<unsigned>(seed)) {}
    void operator()() {
      if (random_() % 4 == 0) test::give_head_start(std::chrono::microseconds(random_() % 2000));
    }

   private:
    std::minstd_rand random_;
  };

  static void finish(Request& request, Calls calls) {
    if (calls != Calls::testing) return request.wait();
    while (!request.test()) std::this_thread::yield();
  }

  static void exchange(const Communicator& ring, Calls calls, int repetitions, int thread) {
    Pause pause(thread * 100 + rank());
    for (int i = 0; i < repetitions; ++i) {
      const std::array<int, 2> out{rank() * 1000 + i, -rank() * 1000 - i};
      std::array<int, 2> in{};
      pause();
      if (calls == Calls::blocking) {
        neighbor_xchg(ring, out, in);
      } else {
        Request request = neighbor_xchg.start(ring, out, in);
        pause();
        finish(request, calls);
      }
      ASSERT_EQ(in[0], -next() * 1000 - i);
      ASSERT_EQ(in[1], previous() * 1000 + i);
    }
  }

  static void send_and_receive(const Communicator& ring, int repetitions, int thread) {
    Pause pause(thread * 100 + rank());
    for (int i = 0; i < repetitions; ++i) {
      const std::array<int, 1> out{rank() * 1000 + i};
      std::array<int, 1> in{};
      pause();
      Request sent = isend(ring, std::as_bytes(std::span(out)), {next(), Tag{7}});
      recv(ring, std::as_writable_bytes(std::span(in)), {previous(), Tag{7}});
      sent.wait();
      ASSERT_EQ(in[0], previous() * 1000 + i);
    }
  }

  static void run(const std::vector<std::function<void()>>& bodies) {
    std::vector<std::thread> threads;
    for (const auto& body : bodies) threads.emplace_back(body);
    for (std::thread& thread : threads) thread.join();
  }
};

class Threads : public ThreadsOfARank, public testing::WithParamInterface<std::tuple<int, Mix>> {
 protected:
  static void TearDownTestSuite() {
    if (a_thread_waited() && size() > 1) {
      EXPECT_GT(count(core::Counter::caller_sleeps), 0u) << "no thread slept, so nothing was tested";
    }
    OnAllRanks::TearDownTestSuite();
  }
  static bool& a_thread_waited() {
    static bool waited = false;
    return waited;
  }
};

INSTANTIATE_TEST_SUITE_P(
    Of, Threads,
    testing::Combine(testing::Values(2, 4, 8),
                     testing::Values(Mix{"Blocking", {Calls::blocking}}, Mix{"Waiting", {Calls::waiting}},
                                     Mix{"Testing", {Calls::testing}},
                                     Mix{"BlockingAndTesting", {Calls::blocking, Calls::testing}},
                                     Mix{"Messages", {Calls::messages}},
                                     Mix{"MessagesAndTesting", {Calls::messages, Calls::testing}},
                                     Mix{"All", {Calls::messages, Calls::testing, Calls::blocking, Calls::waiting}})),
    [](const auto& of) { return std::to_string(std::get<0>(of.param)) + std::get<1>(of.param).name; });

TEST_P(Threads, WakeWhoSleeps) {
  const auto& [count_of_threads, mix] = GetParam();
  const int repetitions = kRepetitions / count_of_threads;
  std::vector<Communicator> rings;
  std::vector<std::function<void()>> bodies;
  for (int i = 0; i < count_of_threads; ++i) rings.push_back(ring());
  for (int i = 0; i < count_of_threads; ++i) {
    const Calls calls = mix.calls[static_cast<std::size_t>(i) % mix.calls.size()];
    bodies.emplace_back([&rings, i, calls, repetitions] {
      const Communicator& its_ring = rings[static_cast<std::size_t>(i)];
      if (calls == Calls::messages)
        send_and_receive(its_ring, repetitions, i);
      else
        exchange(its_ring, calls, repetitions, i);
    });
  }
  run(bodies);
  EXPECT_EQ(count(core::Counter::late_wake_ups), 0u);
  if (std::ranges::any_of(mix.calls, [](Calls calls) { return calls != Calls::testing; })) a_thread_waited() = true;
}

/// One receives, the other one has a receive of its own to test until all is over.
TEST_F(ThreadsOfARank, AReceiveBesideOneThatOnlyTests) {
  constexpr int kMessages = 200;
  const Communicator messages = ring();
  const Communicator tests = ring();
  std::atomic<bool> over{false};
  const auto receive = [&] {
    send_and_receive(messages, kMessages, 1);
    over.store(true);
  };
  const auto test = [&] {
    std::array<int, 1> in{};
    const std::array<int, 1> out{rank()};
    Request last = irecv(tests, std::as_writable_bytes(std::span(in)), {previous(), Tag{9}});
    while (!over.load()) last.test();
    send(tests, std::as_bytes(std::span(out)), {next(), Tag{9}});
    finish(last, Calls::testing);
    EXPECT_EQ(in[0], previous());
  };
  run({receive, test});
  EXPECT_EQ(count(core::Counter::late_wake_ups), 0u);
}

}  // namespace
}  // namespace fab
