// The log of a wait that makes no progress, by a clock that the test turns.
#include "core/run/watch.h"

#include <gmock/gmock.h>

#include "unit/harness/recording_rig.h"
#include "unit/support/turned_clock.h"

namespace fab::test {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class WatchTest : public testing::Test {
 protected:
  explicit WatchTest(bool check = false) : rig_(options(check)) { rig_.context().set_clock(TurnedClock::now); }
  static RecordingRig::Options options(bool check) {
    RecordingRig::Options options;
    options.config.check = check;
    return options;
  }
  std::string heard_after(core::Watch& watch, seconds time) {
    TurnedClock::turn(time);
    testing::internal::CaptureStderr();
    watch.look();
    return testing::internal::GetCapturedStderr();
  }
  void end(core::Run& run) {
    rig_.provider().settle_all(8);
    rig_.poll();
    rig_.let_go(run);
  }

  RecordingRig rig_;
  Buffers buffers_{240};
};

TEST_F(WatchTest, SaysOnceWhatIsPendingWhenNothingHasHappenedForAMinute) {
  core::Run& run = rig_.start(exchange_with({1, 2}, 8), buffers_);
  core::Pending* const all[] = {nullptr, &run};
  core::Watch watch(all, rig_.context());
  watch.look();
  EXPECT_THAT(heard_after(watch, seconds(59)), IsEmpty());
  EXPECT_EQ(heard_after(watch, seconds(1)),
            "fab[0] warn: test: no progress for 60 s; still pending: "
            "receive from rank 1 (8 B, slot 0, through recording); "
            "receive from rank 2 (8 B, slot 0, through recording); "
            "send to rank 1 (8 B, slot 0, through recording); send to rank 2 (8 B, slot 0, through recording); "
            "FAB_CHECK=1 finds ranks that make different calls\n");
  EXPECT_THAT(heard_after(watch, seconds(60)), IsEmpty());
  EXPECT_FALSE(run.done()) << "without FAB_WAIT_TIMEOUT a wait never ends by itself";
  end(run);
}

TEST_F(WatchTest, SaysNothingWhileSomethingHappens) {
  core::Run& run = rig_.start(exchange_with({1}, 8, 3), buffers_);
  core::Pending* const all[] = {&run};
  core::Watch watch(all, rig_.context());
  watch.look();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_THAT(heard_after(watch, seconds(50)), IsEmpty());
    rig_.provider().complete_send(rig_.provider().find(kSend, 1, i));
    rig_.poll();
  }
  EXPECT_THAT(heard_after(watch, seconds(50)), IsEmpty());
  EXPECT_THAT(heard_after(watch, seconds(50)), IsEmpty()) << "the look before has seen the last of them";
  EXPECT_THAT(heard_after(watch, seconds(10)), HasSubstr("receive from rank 1"));
  end(run);
}

class CheckingWatchTest : public WatchTest {
 protected:
  CheckingWatchTest() : WatchTest(true) {}
};

TEST_F(CheckingWatchTest, DoesNotRecommendWhatIsInForce) {
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers_);
  core::Pending* const all[] = {&run};
  core::Watch watch(all, rig_.context());
  watch.look();
  EXPECT_THAT(heard_after(watch, seconds(60)),
              AllOf(HasSubstr("receive from rank"), HasSubstr("of the comparison of calls"), Not(HasSubstr("FAB_"))));
  {
    const core::Lock lock(rig_.engine());
    run.abandon({make_error_code(Errc::timed_out), "over"});
  }
  end(run);
}

}  // namespace
}  // namespace fab::test
