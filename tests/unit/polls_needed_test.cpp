// Which operations count as coming no further without polls, for as long as they are in flight.
#include <gtest/gtest.h>

#include "core/run/wait.h"
#include "unit/recording_rig.h"

namespace fab::test {
namespace {

// What is known of a message's way, from the first run on: it needs polls, or not, and no more once it has ended.
TEST(PollsNeeded, AreThoseOfLongMessagesInFlight) {
  RecordingRig::Options options;
  options.capabilities.unattended_bytes = 64;
  RecordingRig rig(options);
  Buffers buffers(256);
  const auto needed_for = [&](std::size_t bytes) {
    core::Run& run = rig.start(exchange_with({1}, bytes), buffers);
    const int needed = rig.engine().thread_call().polls_needed();
    rig.provider().settle_all(bytes);
    core::finish(run);
    rig.let_go(run);
    EXPECT_EQ(rig.engine().thread_call().polls_needed(), 0);
    return needed;
  };
  EXPECT_EQ(needed_for(8), 0);
  EXPECT_EQ(needed_for(256), 1);
  EXPECT_EQ(needed_for(8), 0);
}

}  // namespace
}  // namespace fab::test
