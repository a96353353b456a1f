// Runs that start before their peers' addresses are known.
#include <gmock/gmock.h>

#include "core/run/wait.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

RecordingRig::Options strangers() {
  RecordingRig::Options options;
  options.known = false;
  return options;
}

TEST(PeerLookUp, ARunWaitsForAllAddressesOfItsPlan) {
  RecordingRig rig(strangers());
  Buffers buffers(16);
  core::Run& run = rig.start(exchange_with({1, 2}, 8), buffers);
  rig.publish(1);
  rig.poll();
  EXPECT_TRUE(rig.provider().posts().empty());
  rig.publish(3);
  rig.publish(2);
  EXPECT_TRUE(rig.provider().posts().empty()) << "only the thread that drives the engine posts";
  rig.poll();
  EXPECT_EQ(rig.provider().posts().size(), 4u);
  rig.provider().settle_all(8);
  rig.poll();
  EXPECT_TRUE(run.done() && run.status().ok());
  rig.let_go(run);
}

TEST(PeerLookUp, RunsThatWaitKeepTheirOrder) {
  RecordingRig rig(strangers());
  Buffers buffers(8);
  const auto pool = rig.pool(exchange_with({1}, 8));
  core::Run& first = rig.start(*pool, buffers);
  core::Run& second = rig.start(*pool, buffers);
  rig.publish(1);
  rig.poll();
  ASSERT_EQ(rig.provider().posts().size(), 4u);
  EXPECT_LT(rig.provider().posts()[0].tag, rig.provider().posts()[2].tag);
  rig.provider().settle_all(8);
  rig.poll();
  EXPECT_TRUE(first.done() && second.done());
  rig.let_go(first);
  rig.let_go(second);
}

TEST(PeerLookUp, OnlyPeersThatAreTalkedToAreLookedUp) {
  RecordingRig rig;  // four ranks
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({2}, 8), buffers);
  rig.provider().settle_all(8);
  rig.poll();
  rig.let_go(run);
  RecordingRig other(strangers());
  core::Run& its = other.start(exchange_with({2}, 8), buffers);
  other.publish(2);
  other.poll();
  const core::Lock lock(other.engine());
  EXPECT_EQ(other.context().peers().in_schedules(0), std::vector<Rank>{2});
  other.provider().settle_all(8);
  other.engine().progress();
  its.let_go();
}

// Ranks that close shake hands with these, so what they are must not depend on when addresses come, or on who listens
// to whom.
TEST(PeerLookUp, PeersOfSchedulesAreThoseThatBothEndsCount) {
  RecordingRig rig(strangers());
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({2}, 8), buffers);
  const auto in_schedules = [&rig] {
    const core::Lock lock(rig.engine());
    return rig.context().peers().in_schedules(0);
  };
  EXPECT_EQ(in_schedules(), std::vector<Rank>{2}) << "its address has not come";
  {
    const core::Lock lock(rig.engine());
    static_cast<void>(rig.context().peers().find(3));
  }
  rig.publish(2);
  rig.publish(3);
  rig.poll();
  EXPECT_EQ(in_schedules(), std::vector<Rank>{2}) << "rank 3 was only looked up";
  rig.provider().settle_all(8);
  rig.poll();
  rig.let_go(run);
}

TEST(PeerLookUp, AFailedOneFailsTheRun) {
  RecordingRig::Options options = strangers();
  options.lookup_fault = "the server has gone";
  RecordingRig rig(options);
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({2}, 8), buffers);
  core::wait(run);
  EXPECT_EQ(run.status().errc(), Errc::unreachable);
  EXPECT_THAT(run.status().message, AllOf(HasSubstr("test: "), HasSubstr("rank 2"), HasSubstr("the server has gone")));
  rig.let_go(run);
  core::Run& next = rig.start(exchange_with({2}, 8), buffers);
  EXPECT_TRUE(next.done()) << "known at once the second time";
  EXPECT_EQ(next.status().errc(), Errc::unreachable);
  rig.let_go(next);
}

TEST(PeerLookUp, APeerThatCannotBeConnectedFailsTheRun) {
  RecordingRig rig(strangers());
  rig.provider().refuse_connections("no route to host");
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers);
  rig.publish(1);
  core::wait(run);
  EXPECT_EQ(run.status().errc(), Errc::unreachable);
  EXPECT_THAT(run.status().message, AllOf(HasSubstr("test: rank 1"), HasSubstr("no route to host")));
  EXPECT_TRUE(rig.provider().posts().empty());
  rig.let_go(run);
}

TEST(ContextIds, ARunWaitsForOne) {
  RecordingRig rig;
  const auto communicator = rig.communicator(std::nullopt);
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers, *communicator);
  rig.poll();
  EXPECT_TRUE(rig.provider().posts().empty());
  communicator->set_context_id({2, 5});
  EXPECT_TRUE(rig.provider().posts().empty());
  rig.poll();
  ASSERT_EQ(rig.provider().posts().size(), 2u);
  const std::uint64_t context = rig.context().tags().context({2, 5});
  for (const Post& post : rig.provider().posts()) EXPECT_EQ(post.tag & context, context);
  rig.provider().settle_all(8);
  rig.poll();
  EXPECT_TRUE(run.done() && run.status().ok());
  rig.let_go(run);
}

TEST(ContextIds, ARefusedOneFailsWaitingAndLaterRuns) {
  RecordingRig rig;
  const auto communicator = rig.communicator(std::nullopt);
  Buffers buffers(8);
  core::Run& waiting = rig.start(exchange_with({1}, 8), buffers, *communicator);
  communicator->refuse_context_id({make_error_code(Errc::no_resources), "no ids are left"});
  core::wait(waiting);
  EXPECT_EQ(waiting.status().errc(), Errc::no_resources);
  EXPECT_THAT(waiting.status().message, HasSubstr("test: no ids are left"));
  rig.let_go(waiting);
  core::Run& later = rig.start(exchange_with({1}, 8), buffers, *communicator);
  EXPECT_TRUE(later.done());
  EXPECT_EQ(later.status().errc(), Errc::no_resources);
  rig.let_go(later);
}

TEST(ContextIds, AreGivenOutOnceAndEndWithAnError) {
  RecordingRig::Options options;
  options.capabilities.tag_mask = (1ull << 34) - 1;
  RecordingRig rig(options);
  const std::uint64_t numbers = rig.context().tags().numbers();
  for (std::uint32_t number = 1; number < numbers; ++number)
    EXPECT_EQ(rig.context().new_context_id(), (core::ContextId{0, number}));
  try {
    (void)rig.context().new_context_id();
    ADD_FAILURE() << "more ids than the tags hold";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::no_resources);
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(numbers)));
  }
}

}  // namespace
}  // namespace fab::test
