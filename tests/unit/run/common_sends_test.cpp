// Sends of a round that have their bytes in common: they are posted together, and each ends for itself.
#include <gmock/gmock.h>

#include "core/run/run.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CommonSends : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 8;

  static RecordingRig::Options options(bool copies_once = true) {
    RecordingRig::Options result{.ranks = 6};
    result.capabilities.most_copied_once = copies_once ? kBytes : 0;
    return result;
  }
  /// Rank 1 gets the first block, rank 2 the second, and so on; each sends one back. Blocks are numbers of them.
  core::Run& start(const std::vector<std::size_t>& blocks) {
    const auto place = [](std::size_t block) { return static_cast<std::ptrdiff_t>(block * kBytes); };
    ScheduleBuilder builder("test", 6);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Rank peer = static_cast<Rank>(i + 1);
      builder.recv(peer, 0, {BufferId::recv, place(i), Layout::contiguous(kBytes)});
      builder.send(peer, 0, {BufferId::send, place(blocks[i]), Layout::contiguous(kBytes)});
    }
    for (std::size_t i = 0; i < buffers_.send.size(); ++i) buffers_.send[i] = static_cast<std::byte>(i);
    return rig_.start(builder.commit(), buffers_);
  }
  [[nodiscard]] std::byte first_byte_to(PeerHandle peer) {
    return provider().posts().at(provider().find(kSend, peer)).message.at(0);
  }
  RecordingProvider& provider() { return rig_.provider(); }
  void settle() {
    provider().settle_all(kBytes);
    rig_.poll();
    rig_.poll();
  }

  RecordingRig rig_{options()};
  Buffers buffers_{64};
};

TEST_F(CommonSends, ArePostedTogether) {
  core::Run& run = start({0, 0, 0, 1, 1});
  EXPECT_THAT(provider().posts_to_all(), ElementsAre(ElementsAre(1, 2, 3), ElementsAre(4, 5)));
  EXPECT_EQ(first_byte_to(3), std::byte{0});
  EXPECT_EQ(first_byte_to(5), std::byte{kBytes});
  EXPECT_FALSE(run.done());
  settle();
  EXPECT_TRUE(run.done() && run.status().ok());
  rig_.let_go(run);
}

TEST_F(CommonSends, OthersAreNot) {
  core::Run& run = start({0, 1, 0, 2, 2});
  EXPECT_THAT(provider().posts_to_all(), ElementsAre(ElementsAre(4, 5)));
  EXPECT_EQ(provider().count(kSend), 5u);
  settle();
  EXPECT_TRUE(run.done() && run.status().ok());
  rig_.let_go(run);
}

TEST_F(CommonSends, AProviderThatCopiesForEachGetsThemOneByOne) {
  RecordingRig rig(options(false));
  ScheduleBuilder builder("test", 6);
  for (const Rank peer : {1, 2}) builder.send(peer, 0, {BufferId::send, 0, Layout::contiguous(kBytes)});
  core::Run& run = rig.start(builder.commit(), buffers_);
  EXPECT_THAT(rig.provider().posts_to_all(), IsEmpty());
  EXPECT_EQ(rig.provider().count(kSend), 2u);
  rig.provider().settle_all(kBytes);
  rig.poll();
  EXPECT_TRUE(run.done());
  rig.let_go(run);
}

TEST_F(CommonSends, OneThatIsRefusedIsRepeatedAlone) {
  provider().refuse_peer(2, kSend, true);
  core::Run& run = start({0, 0, 0});
  EXPECT_EQ(provider().count(kSend), 2u);
  rig_.poll();
  EXPECT_EQ(provider().count(kSend), 2u);
  provider().refuse_peer(2, kSend, false);
  rig_.poll();
  EXPECT_EQ(provider().count(kSend), 3u);
  EXPECT_THAT(provider().posts_to_all(), ElementsAre(ElementsAre(1, 2, 3)));
  EXPECT_EQ(first_byte_to(2), std::byte{0});
  settle();
  EXPECT_TRUE(run.done() && run.status().ok());
  rig_.let_go(run);
}

TEST_F(CommonSends, OneThatFailsInsideThePostTakesNoOtherAlong) {
  for (const PeerHandle failing : {1u, 2u, 3u}) {
    const std::size_t before = provider().count(kSend);
    provider().fail_in_post(failing, kSend, "connection refused");
    core::Run& run = start({0, 0, 0});
    EXPECT_EQ(provider().count(kSend), before + 3);
    EXPECT_FALSE(run.done()) << "the others are in flight";
    settle();
    EXPECT_TRUE(run.done());
    EXPECT_EQ(run.status().errc(), Errc::transport);
    EXPECT_THAT(run.status().message, HasSubstr("connection refused"));
    rig_.let_go(run);
  }
}

TEST_F(CommonSends, ThoseOfLaterRoundsFollow) {
  ScheduleBuilder builder("test", 6);
  for (const Rank peer : {1, 2}) builder.send(peer, 0, {BufferId::send, 0, Layout::contiguous(kBytes)});
  builder.round();
  for (const Rank peer : {3, 4, 5}) builder.send(peer, 0, {BufferId::send, 8, Layout::contiguous(kBytes)});
  core::Run& run = rig_.start(builder.commit(), buffers_);
  EXPECT_THAT(provider().posts_to_all(), ElementsAre(ElementsAre(1, 2)));
  settle();
  EXPECT_THAT(provider().posts_to_all(), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4, 5)));
  settle();
  EXPECT_TRUE(run.done() && run.status().ok());
  rig_.let_go(run);
}

}  // namespace
}  // namespace fab::test
