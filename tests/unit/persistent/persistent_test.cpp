// The posts of a persistent exchange, and the resources that it keeps and releases.
#include "core/communicator/persistent.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "core/run/wait.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/allocation_count.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

class Persistent : public testing::Test {
 protected:
  core::Persistent make() {
    const std::array<std::byte*, 2> bases{buffers_.send.data(), buffers_.recv.data()};
    return {rig_.world(), exchange_with({1, 2}, 8), bases};
  }
  /// The peers have made theirs, too.
  void meet() {
    rig_.provider().settle_all(0);
    rig_.poll();
  }
  core::Persistent make_and_meet() {
    core::Persistent exchange = make();
    meet();
    return exchange;
  }
  void start(core::Persistent& exchange) {
    const core::Lock lock(rig_.engine());
    exchange.start();
  }
  void settle() {
    const PausedCount paused;
    rig_.provider().settle_all(8);
  }
  void run(core::Persistent& exchange) {
    start(exchange);
    settle();
    core::finish(exchange.run());
    EXPECT_TRUE(exchange.run().status().ok()) << exchange.run().status().message;
    exchange.end();
  }

  RecordingRig rig_;
  Buffers buffers_{100};
};

// Providers connect with the first message, which may take them long.
TEST_F(Persistent, MeetsItsPeersWhenItIsMade) {
  core::Persistent exchange = make();
  const std::vector<Post> hellos = rig_.provider().posts();
  ASSERT_EQ(hellos.size(), 4u) << "one each way with each peer";
  start(exchange);
  const std::vector<Post> posts = rig_.provider().posts();
  ASSERT_EQ(posts.size(), 8u) << "it does not wait for them";
  for (const Post& hello : hellos) {
    EXPECT_TRUE(hello.message.empty());  // and receives have none
    for (std::size_t i = hellos.size(); i < posts.size(); ++i) EXPECT_NE(hello.tag, posts[i].tag);
  }
  for (const OperationKind kind : {kSend, kRecv})
    for (const PeerHandle peer : {1u, 2u}) {
      const std::size_t post = rig_.provider().find(kind, peer, 1);
      kind == kSend ? rig_.provider().complete_send(post) : rig_.provider().deliver(post, bytes_of(8, 3));
    }
  core::finish(exchange.run());
  EXPECT_TRUE(exchange.run().status().ok()) << exchange.run().status().message;
  exchange.end();
  meet();
  EXPECT_EQ(rig_.engine().active(), 0);
}

TEST_F(Persistent, MayEndBeforeItHasMetItsPeers) {
  { const core::Persistent exchange = make(); }
  EXPECT_EQ(rig_.engine().active(), 1);
  meet();
  EXPECT_EQ(rig_.engine().active(), 0);
  EXPECT_EQ(rig_.retired_plans(), 0u);
}

TEST_F(Persistent, DoesNotCareHowItMetThem) {
  core::Persistent exchange = make();
  rig_.provider().fail(rig_.provider().find(kRecv, 1), Errc::transport, "a cable");
  meet();
  run(exchange);
}

TEST_F(Persistent, AllocatesNothingWhenStarted) {
  core::Persistent exchange = make_and_meet();
  for (int i = 0; i < 3; ++i) {
    const std::size_t before = allocation_count();
    run(exchange);
    EXPECT_EQ(allocation_count(), before);
  }
}

TEST_F(Persistent, KeepsItsTagsApartFromAllOthers) {
  core::Persistent first = make_and_meet();
  core::Persistent second = make_and_meet();
  for (int i = 0; i < 3; ++i) {
    run(second);
    run(first);
  }
  core::Run& ordinary = rig_.start(exchange_with({1, 2}, 8), buffers_);
  settle();
  rig_.poll();
  rig_.let_go(ordinary);
  std::set<std::uint64_t> tags;
  for (const Post& post : rig_.provider().posts())
    if (post.kind == OperationKind::recv && post.peer == 1) tags.insert(post.tag);
  EXPECT_EQ(tags.size(), 5u) << "two for each persistent one";
}

TEST_F(Persistent, GivesBackItsPlanWhenItEnds) {
  {
    core::Persistent exchange = make_and_meet();
    EXPECT_EQ(rig_.retired_plans(), 1u);
    run(exchange);
    EXPECT_EQ(rig_.retired_plans(), 1u);
  }
  EXPECT_EQ(rig_.retired_plans(), 0u);
}

TEST_F(Persistent, MayEndInFlight) {
  std::optional<core::Persistent> exchange(make_and_meet());
  start(*exchange);
  exchange.reset();
  EXPECT_EQ(rig_.engine().active(), 1);
  EXPECT_EQ(rig_.retired_plans(), 1u);
  settle();
  rig_.poll();
  EXPECT_EQ(rig_.engine().active(), 0);
  EXPECT_EQ(rig_.retired_plans(), 0u);
}

TEST_F(Persistent, CanBeStartedAgainAfterAFailure) {
  core::Persistent exchange = make_and_meet();
  start(exchange);
  auto& provider = rig_.provider();
  provider.fail(provider.find(kRecv, 1, 1), Errc::transport, "a cable");
  settle();
  core::finish(exchange.run());
  EXPECT_EQ(exchange.run().status().errc(), Errc::transport);
  exchange.end();
  run(exchange);
}

TEST_F(Persistent, StartingItTwiceIsRefused) {
  core::Persistent exchange = make_and_meet();
  start(exchange);
  expect_error(Errc::invalid_argument, {"test: started again"}, [&] { start(exchange); });
  settle();
  core::finish(exchange.run());
}

TEST(PersistentLimit, AsManyAsTagsCanTellApart) {
  RecordingRig::Options options;
  options.capabilities.tag_mask = (1ull << 34) - 1;
  RecordingRig rig(options);
  Buffers buffers(8);
  const std::array<std::byte*, 2> bases{buffers.send.data(), buffers.recv.data()};
  const auto make = [&] { return core::Persistent(rig.world(), exchange_with({1}, 8), bases); };
  const std::uint64_t limit = rig.context().tags().max_in_flight() / 2;  // each takes two
  std::vector<core::Persistent> exchanges;
  for (std::uint64_t i = 0; i < limit; ++i) exchanges.push_back(make());
  expect_error(Errc::no_resources, {"persistent exchanges", "free some first"}, make);
  exchanges.pop_back();
  EXPECT_NO_THROW(exchanges.push_back(make()));
  rig.provider().settle_all(0);  // what goes on by itself keeps its communicator until it has met the peer
  rig.poll();
}

}  // namespace
}  // namespace fab::test
