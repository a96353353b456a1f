// A progress thread to which everything is left: a start does not call it at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "core/wait.h"
#include "unit/comes_true.h"
#include "unit/recording_rig.h"

namespace fab::test {
namespace {

using namespace std::chrono_literals;

/// It has finished some exchanges, and nobody else has polled: it expects the next to be left to it, too.
class TrustedThread : public testing::Test {
 protected:
  TrustedThread() {
    for (int i = 0; i < 3; ++i) let_thread_finish(start());
  }
  core::Run& start() {
    core::Run& run = rig_.start(*plan_, buffers_);
    rig_.engine().leave();
    return run;
  }
  void let_thread_finish(core::Run& run) {
    rig_.provider().settle_all(8);
    EXPECT_TRUE(comes_true([&] { return run.done(); }));
    rig_.let_go(run);
    std::this_thread::sleep_for(5ms);  // so that it sleeps
  }
  [[nodiscard]] std::size_t looks() { return rig_.provider().background_polls(); }
  /// From the start of a run until the thread looks.
  [[nodiscard]] std::chrono::steady_clock::duration time_to_look() {
    const std::size_t before = looks();
    const auto begin = std::chrono::steady_clock::now();
    core::Run& run = start();
    while (looks() == before && std::chrono::steady_clock::now() < begin + 10s) {
    }
    const auto time = std::chrono::steady_clock::now() - begin;
    EXPECT_GT(looks(), before);
    let_thread_finish(run);
    return time;
  }

  static RecordingRig::Options options() {
    RecordingRig::Options options;
    options.config.progress = ProgressMode::thread;
    options.capabilities.wait_fd = true;
    return options;
  }

  RecordingRig rig_{options()};
  const std::shared_ptr<core::Plan> plan_ = rig_.plan(exchange_with({1}, 8));
  Buffers buffers_{8};
};

// Now and then the thread has not rested yet when the next run starts, and looks by itself.
TEST_F(TrustedThread, LooksOnceTheCallerHasGoneOn) {
  std::vector<std::chrono::steady_clock::duration> later;
  std::vector<std::chrono::steady_clock::duration> at_once;
  for (int i = 0; i < 50; ++i) {
    later.push_back(time_to_look());
    rig_.poll();  // somebody else
    at_once.push_back(time_to_look());
    let_thread_finish(start());
  }
  std::ranges::sort(later);
  EXPECT_GE(later[later.size() / 2], 50us);
  EXPECT_LT(std::ranges::min(at_once), later[later.size() / 2]);
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

}  // namespace
}  // namespace fab::test
