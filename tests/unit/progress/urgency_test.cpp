// Whether the progress thread is needed for what is in flight.
#include "core/progress/urgency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/point/point_to_point.h"
#include "core/run/wait.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using core::Urgency;

class UrgencyTest : public testing::Test {
 protected:
  explicit UrgencyTest() : rig_(with_limits()) {}

  static RecordingRig::Options with_limits() {
    RecordingRig::Options options;
    options.capabilities.detached_bytes = 64;
    options.capabilities.unattended_bytes = 256;
    return options;
  }
  [[nodiscard]] int count(Urgency urgency) { return rig_.engine().thread_call().count(urgency); }
  /// Of what is in flight, which is one run at most.
  [[nodiscard]] Urgency urgency() {
    if (count(Urgency::polls) > 0) return Urgency::polls;
    if (count(Urgency::peers) > 0) return Urgency::peers;
    return count(Urgency::sends) > 0 ? Urgency::sends : Urgency::none;
  }
  void finish(core::Run& run, std::size_t bytes) {
    rig_.provider().settle_all(bytes);
    core::finish(run);
    rig_.let_go(run);
    EXPECT_EQ(urgency(), Urgency::none);
  }
  Urgency urgency_of(const Schedule& schedule, std::size_t bytes) {
    core::Run& run = rig_.start(schedule, buffers_);
    const Urgency result = urgency();
    while (!run.done()) {
      rig_.provider().settle_all(bytes);
      rig_.poll();
    }
    finish(run, bytes);
    return result;
  }

  RecordingRig rig_;
  Buffers buffers_{512};
};

// What is known of a message's way, from the first run on, until that has ended.
TEST_F(UrgencyTest, OfAnExchangeGrowsWithItsMessages) {
  EXPECT_EQ(urgency_of(exchange_with({1}, 8), 8), Urgency::none);
  EXPECT_EQ(urgency_of(exchange_with({1}, 128), 128), Urgency::sends);
  EXPECT_EQ(urgency_of(exchange_with({1}, 512), 512), Urgency::polls);
  EXPECT_EQ(urgency_of(exchange_with({1}, 8), 8), Urgency::none);
}

TEST_F(UrgencyTest, OfALaterRoundIsThatOfThePeersWhichWaitForIt) {
  ScheduleBuilder builder("pass on", 3);
  builder.recv(1, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  builder.round();
  builder.send(2, 0, {BufferId::recv, 0, Layout::contiguous(8)});
  EXPECT_EQ(urgency_of(builder.commit(), 8), Urgency::peers);
}

TEST_F(UrgencyTest, OfARefusedPostIsThatOfItsReceiverUntilItHasLeft) {
  rig_.provider().refuse_peer(1, kSend, true);
  core::Run& run = rig_.start(exchange_with({1}, 8), buffers_);
  rig_.poll();
  EXPECT_EQ(urgency(), Urgency::peers);
  rig_.provider().refuse_peer(1, kSend, false);
  rig_.poll();
  EXPECT_EQ(urgency(), Urgency::none);
  finish(run, 8);
}

TEST_F(UrgencyTest, OfAnythingIsTheHighestOnceAProgramSleepsOnADescriptorForIt) {
  const core::Lock lock(rig_.engine());
  for (int call = 0; call < 2; ++call) {
    static_cast<void>(rig_.engine().completion_fd());
    EXPECT_EQ(count(Urgency::polls), 1);
  }
}

// A short message leaves by itself. Of a long one the sender waits to be asked for the bytes, and the receiver, once it
// has asked, for them: neither comes further without polls. A receive that waits for a message needs none.
TEST(UrgencyOfMessages, IsTheHighestWhereTheirOtherEndIsAsked) {
  InProcessJob job(2, caller_config(), {});
  const auto communicators = job.communicators([](Rank) { return std::nullopt; });
  core::Communicator& sender = *communicators[0];
  core::Communicator& receiver = *communicators[1];
  const auto needed = [&](Rank rank) { return job.context(rank).engine().thread_call().count(Urgency::polls); };
  const auto message = [](std::vector<std::byte>& memory) { return core::MessageMemory(memory.data(), memory.size()); };
  const auto end = [](core::Communicator& communicator, core::Pending& pending) {
    EXPECT_TRUE(pending.status().ok()) << pending.status().message;
    const core::Lock lock(communicator.engine());
    pending.let_go();
  };
  for (const auto& [bytes, polls] : {std::pair<std::size_t, int>{8, 0}, {core::kEagerBytes + 1, 1}, {8, 0}}) {
    std::vector<std::byte> out(bytes, std::byte{1});
    std::vector<std::byte> in(bytes);
    core::Pending* received = nullptr;
    {
      const core::Lock lock(receiver.engine());
      received = &receiver.context().point_to_point().receive(receiver, message(in), {0, Tag{1}});
    }
    EXPECT_EQ(needed(1), 0) << bytes;
    core::Pending* sent = nullptr;
    {
      const core::Lock lock(sender.engine());
      sent = &sender.context().point_to_point().send(sender, message(out), {1, Tag{1}}, SendMode::standard);
    }
    EXPECT_EQ(needed(0), polls) << bytes;
    int most = 0;
    for (int turn = 0; turn < 20'000 && !(sent->done() && received->done()); ++turn) {
      job.progress();
      most = std::max(most, needed(1));
    }
    ASSERT_TRUE(sent->done() && received->done());
    EXPECT_EQ(most, polls) << bytes;
    end(sender, *sent);
    end(receiver, *received);
    EXPECT_EQ(needed(0) + needed(1), 0) << bytes;
    EXPECT_EQ(in, out);
  }
}

}  // namespace
}  // namespace fab::test
