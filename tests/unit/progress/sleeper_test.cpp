// A caller that sleeps while another thread of its rank holds the engine's lock.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "core/progress/driver.h"
#include "core/run/wait.h"
#include "support/comes_true.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using core::Counter;

class Sleeper : public testing::Test {
 protected:
  [[nodiscard]] std::uint64_t count(Counter counter) { return rig_.context().counters()[counter]; }
  /// A thread that waits for the run; it sleeps, or is about to, when this returns.
  [[nodiscard]] std::thread sleep_until_done(core::Run& run) {
    const std::uint64_t before = count(Counter::caller_sleeps);
    std::thread sleeper([&run] { core::wait(run); });
    EXPECT_TRUE(comes_true([&] { return count(Counter::caller_sleeps) > before; }));
    return sleeper;
  }
  /// Ends what was posted from there on, without a word of the descriptor's. Under the lock.
  void end_from(std::size_t first) {
    const std::vector<Post> posts = rig_.provider().posts();
    for (std::size_t i = first; i < posts.size(); ++i) posts[i].completion->done(8, posts[i].tag);
  }
  /// The receive and the send of a run.
  void end_with_a_word(std::size_t first) {
    rig_.provider().deliver(first, bytes_of(8, 0));
    rig_.provider().complete_send(first + 1);
  }

  /// A run of another caller's, which begins with a post of that number.
  struct Other {
    core::Run& run;
    std::size_t first;
  };
  Other start_other() {
    const std::size_t first = rig_.provider().posts().size();
    return {rig_.start(exchange_with({2}, 8), others_), first};
  }
  void end_locked(std::size_t first) {
    const core::Lock lock(rig_.engine());
    end_from(first);
  }

  RecordingRig rig_;
  Buffers buffers_{8};
  Buffers others_{8};
};

TEST_F(Sleeper, IsCalledByAThreadThatEndsItsRun) {
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers_);
  std::thread sleeper = sleep_until_done(run);
  end_locked(0);
  sleeper.join();
  EXPECT_EQ(count(Counter::woken_callers), 1u);
  EXPECT_EQ(count(Counter::late_wake_ups), 0u);
  rig_.let_go(run);
}

TEST_F(Sleeper, IsLeftAsleepByAThreadThatEndsItsOwn) {
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers_);
  std::thread sleeper = sleep_until_done(run);
  const Other other = start_other();
  end_locked(other.first);
  EXPECT_TRUE(other.run.done());
  rig_.let_go(other.run);
  EXPECT_EQ(count(Counter::woken_callers), 0u);
  end_with_a_word(0);
  sleeper.join();
  EXPECT_EQ(count(Counter::late_wake_ups), 0u);
  rig_.let_go(run);
}

// No other thread tells it of the run's end: it had looked before.
TEST_F(Sleeper, DoesNotGoToSleepWhenItsRunHasEndedSinceItLooked) {
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers_);
  const auto is_done = [&run] { return run.done(); };
  core::Driver driver(rig_.engine(), nullptr, core::Driver::Attention::to_runs, core::Condition(is_done));
  ASSERT_FALSE(driver.step());
  end_locked(0);
  for (int rests = 0; rests < 10'000 && count(Counter::caller_sleeps) == 0; ++rests) driver.rest();
  EXPECT_EQ(count(Counter::caller_sleeps), 0u);
  rig_.let_go(run);
}

TEST_F(Sleeper, OneThatFollowsIsToldByTheThreadThatEndsItsRun) {
  core::Run& first = rig_.start(exchange_with({1}, 8), buffers_);
  std::thread leader = sleep_until_done(first);
  const Other second = start_other();
  std::thread follower([&second] { core::wait(second.run); });
  end_locked(second.first);
  follower.join();
  EXPECT_FALSE(first.done());
  end_with_a_word(0);
  leader.join();
  EXPECT_EQ(count(Counter::late_wake_ups), 0u);
  rig_.let_go(first);
  rig_.let_go(second.run);
}

// The bound on sleeps saves it, and is counted: users look for this counter when calls hang for a tenth of a second.
TEST_F(Sleeper, FindsWhatItsProviderDidNotTellAndCountsIt) {
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers_);
  std::thread sleeper = sleep_until_done(run);
  rig_.provider().fall_silent();
  end_with_a_word(0);
  sleeper.join();
  EXPECT_TRUE(run.done());
  EXPECT_GE(count(Counter::late_wake_ups), 1u);
  rig_.let_go(run);
}

TEST_F(Sleeper, OneThatFollowsCountsWhatNoThreadTold) {
  const auto is_over = [] { return true; };
  const auto epoch = rig_.engine().followers().epoch();
  EXPECT_EQ(rig_.engine().follow(epoch, core::Condition(is_over), 1), epoch);
  EXPECT_EQ(count(Counter::late_wake_ups), 1u);
}

TEST(Counters, TellWhatIsNotZero) {
  core::Counters counters;
  EXPECT_EQ(counters.text(), "");
  counters.count(Counter::late_wake_ups);
  counters.count(Counter::caller_sleeps);
  counters.count(Counter::caller_sleeps);
  EXPECT_EQ(counters.text(), "caller_sleeps 2, late_wake_ups 1");
}

}  // namespace
}  // namespace fab::test
