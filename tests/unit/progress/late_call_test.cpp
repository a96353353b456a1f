// A progress thread to which everything is left: a start does not call it at once.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>

#include "core/run/wait.h"
#include "support/comes_true.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

/// It has finished some exchanges, and no other thread has polled: it expects the next to be left to it, too.
class TrustedThread : public testing::Test {
 protected:
  TrustedThread() {
    for (int i = 0; i < 3; ++i) let_thread_finish(start());
  }
  core::Run& start() {
    core::Run& run = rig_.start(*pool_, buffers_);
    rig_.engine().hand_over_progress();
    return run;
  }
  void let_thread_finish(core::Run& run) {
    rig_.provider().settle_all(8);
    EXPECT_TRUE(comes_true([&] { return run.done(); }));
    rig_.let_go(run);
    EXPECT_TRUE(comes_true([&] { return rig_.engine().thread_state() == core::ThreadState::parked; }));
  }
  static RecordingRig::Options options() {
    RecordingRig::Options options;
    options.config.progress = ProgressMode::thread;
    options.capabilities.wait_fd = true;
    return options;
  }

  RecordingRig rig_{options()};
  const std::shared_ptr<core::RunPool> pool_ = rig_.pool(exchange_with({1}, 8));
  Buffers buffers_{8};
};

// That it is called late, tests of its policy see: PolicyTest.MayBeCalledLateWhileItDoesEverything.
TEST_F(TrustedThread, LooksOnceTheCallerHasGoneOn) {
  for (int i = 0; i < 50; ++i) {
    const std::size_t before = rig_.provider().background_polls();
    core::Run& run = start();
    EXPECT_TRUE(comes_true([&] { return rig_.provider().background_polls() > before; }));
    let_thread_finish(run);
    if (i % 2 == 0) rig_.poll();  // by another thread: the next call is not late
  }
}

TEST_F(TrustedThread, RepeatsRefusedPosts) {
  for (int i = 0; i < 10; ++i) {
    const std::size_t posts = rig_.provider().posts().size();
    rig_.provider().refuse(3);
    core::Run& run = start();
    EXPECT_TRUE(comes_true([&] { return rig_.provider().posts().size() == posts + 2; }));
    let_thread_finish(run);
  }
}

TEST_F(TrustedThread, IsStillThereWhenACallerWaitsAfterAll) {
  for (int i = 0; i < 200; ++i) {
    core::Run& waited = start();
    rig_.provider().settle_all(8);
    core::wait(waited);
    rig_.let_go(waited);
    let_thread_finish(start());
  }
}

/// Starts something between the turn in which the thread finds nothing to do and the sleep after it, and ends that as
/// soon as the thread looks.
class StartsBeforeTheSleep : public core::Lookout {
 public:
  explicit StartsBeforeTheSleep(core::Engine& engine) : engine_(engine) {}

  std::size_t look(Time /*now*/) override {
    core::engine_lock.assert_held();
    if (engine_.active() == 0) return 0;
    ++looks_;
    engine_.deactivated();
    return 1;
  }
  [[nodiscard]] int idle_fd() const noexcept override { return -1; }
  void answer() override {
    core::engine_lock.assert_held();
    if (looks_ >= kLooks) return;
    engine_.activated();
    engine_.hand_over_progress();
  }
  static constexpr int kLooks = 50;
  [[nodiscard]] int looks() const noexcept { return looks_; }

 private:
  core::Engine& engine_;
  std::atomic<int> looks_{0};
};

TEST(LateCall, BeforeTheThreadSleepsIsHeard) {
  const Log log;
  core::Counters counters;
  core::Engine engine({}, log, counters);
  StartsBeforeTheSleep lookout(engine);
  engine.set_lookout(&lookout);
  engine.start_thread();
  EXPECT_TRUE(comes_true([&] { return lookout.looks() == StartsBeforeTheSleep::kLooks; })) << lookout.looks();
  engine.stop_thread();
}

}  // namespace
}  // namespace fab::test
