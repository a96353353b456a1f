// What a plan learns of runs that are waited for several at a time.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "bindings/native/base/access.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

// A plan whose runs are waited for in this way needs no thread, as one whose runs are waited for one by one.
TEST(WaitSome, TellsAPlanThatItsRunWasWaitedFor) {
  RecordingRig rig;
  Buffers buffers(8);
  for (const auto ends : {&Request::wait_some, &Request::test_some}) {
    const auto pool = rig.pool(exchange_with({1}, 8));
    std::array requests{Access::request(rig.world(), rig.start(*pool, buffers))};
    rig.provider().settle_all(8);
    ASSERT_TRUE(pool->needs_thread.load());
    EXPECT_EQ(ends(requests), std::vector<std::size_t>{0});
    EXPECT_FALSE(pool->needs_thread.load());
  }
}

}  // namespace
}  // namespace fab::test
