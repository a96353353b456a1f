// Lifetimes while operations are in flight; sequence numbers; memory.
#include <gmock/gmock.h>

#include <set>

#include "collectives/neighbor/neighbor_xchg.h"
#include "core/run/wait.h"
#include "providers/sim/network.h"
#include "support/comes_true.h"
#include "unit/harness/exchange.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/allocation_count.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

TEST(RunLifetime, NothingStartsInAClosedContext) {
  InProcessJob job(1, caller_config(), {});
  Exchange exchange(job.communicators([](Rank) { return Cartesian({1}, {true}); }), {});
  EXPECT_TRUE(job.context(0).close(10));
  expect_error(Errc::cancelled, {"neighbor_xchg", "closed"}, [&] { exchange.start(0); });
}

TEST(RunLifetime, LettingGoInFlightIsLegal) {
  RecordingRig rig;
  Buffers buffers(8);
  rig.let_go(rig.start(exchange_with({1}, 8), buffers));
  EXPECT_EQ(rig.retired_plans(), 1u);
  rig.provider().settle_all(8);
  rig.poll();
  EXPECT_EQ(rig.retired_plans(), 0u);
  EXPECT_EQ(buffers.recv, bytes_of(8, 0));
  EXPECT_EQ(rig.engine().active(), 0);
}

TEST(RunLifetime, DroppingTheCommunicatorInFlightIsLegal) {
  RecordingRig rig;
  Buffers buffers(8);
  auto communicator = rig.communicator(core::ContextId{0, 1});
  core::Run& run = rig.start(exchange_with({1}, 8), buffers, *communicator);
  rig.let_go(run);
  const std::weak_ptr<core::Communicator> watched = communicator;
  communicator.reset();
  EXPECT_FALSE(watched.expired());
  rig.provider().settle_all(8);
  rig.poll();
  EXPECT_TRUE(watched.expired());
}

// A context that is dropped with something in flight is ended by the progress thread, which ends with it.
TEST(RunLifetime, TheProgressThreadMayBeTheLastOwnerOfItsContext) {
  sim::Options options;
  options.capabilities.wait_fd = true;  // ranks sleep in threads of their own
  options.model.eager_bytes = 0;        // a send ends with its receive
  sim::Network network(2, options);
  Buffers buffers(8);
  std::byte* const bases[] = {buffers.send.data(), buffers.recv.data()};
  std::vector<std::unique_ptr<Store>> stores = open_memory_stores(2);
  const auto let_go_of_one_message = [&](Rank rank) {
    const auto world = core::Communicator::world(
        core::Context::open(Config(), std::move(stores.at(static_cast<std::size_t>(rank))),
                            [&](const Config&, const JobInfo& job, const Log&) {
                              return Transports{.node = nullptr, .network = network.open(job.rank)};
                            }));
    ScheduleBuilder builder("one_message", 2);
    if (rank == 0)
      builder.send(1, 0, {BufferId::send, 0, Layout::contiguous(8)});
    else
      builder.recv(0, 0, {BufferId::recv, 0, Layout::contiguous(8)});
    {
      const core::Lock lock(world->engine());
      world->start(std::make_unique<core::RunPool>(*world, builder.commit()), bases).let_go();
    }
    world->engine().hand_over_progress();
  };
  let_go_of_one_message(0);
  let_go_of_one_message(1);
  EXPECT_TRUE(comes_true([&] { return network.providers() == 0; }));
}

TEST(RunLifetime, AFailureEndsALetGoRunToo) {
  RecordingRig rig;
  Buffers buffers(16);
  rig.let_go(rig.start(exchange_with({1}, 8, 2), buffers));
  rig.provider().fail(rig.provider().find(kRecv, 1, 0), Errc::transport, "x");
  rig.poll();
  EXPECT_EQ(rig.retired_plans(), 1u);
  for (const std::size_t n : {0u, 1u}) rig.provider().complete_send(rig.provider().find(kSend, 1, n));
  rig.poll();
  EXPECT_EQ(rig.retired_plans(), 0u);
}

TEST(RunLifetime, ClosingWaitsForWhatIsInFlight) {
  RecordingRig rig;
  Buffers buffers(8);
  rig.let_go(rig.start(exchange_with({1}, 8), buffers));
  rig.provider().settle_all(8);
  EXPECT_FALSE(rig.context().close(0.05)) << "the other ranks never come";
  EXPECT_EQ(rig.engine().active(), 0);
  EXPECT_EQ(buffers.recv, bytes_of(8, 0));
}

TEST(RunLifetime, ClosingGivesUpAfterItsTime) {
  RecordingRig rig;
  Buffers buffers(8);
  core::Run& run = rig.start(exchange_with({1}, 8), buffers);
  EXPECT_FALSE(rig.context().close(0.05));
  EXPECT_FALSE(run.done());
  rig.provider().settle_all(8);
  rig.poll();
  rig.let_go(run);
}

/// A job whose tags hold few sequence numbers.
RecordingRig::Options narrow_tags() {
  RecordingRig::Options options;
  options.capabilities.tag_mask = (1ull << 34) - 1;
  return options;
}

TEST(Sequence, TooManyCallsInFlightAreRefused) {
  RecordingRig rig(narrow_tags());
  const std::uint64_t limit = rig.context().tags().max_in_flight();
  ASSERT_LE(limit, 4096u);
  Buffers buffers(8);
  const auto pool = rig.pool(exchange_with({1}, 8));
  std::vector<core::Run*> runs;
  for (std::uint64_t i = 0; i < limit; ++i) runs.push_back(&rig.start(*pool, buffers));
  const std::string count = std::to_string(limit) + " calls are in flight";
  expect_error(Errc::no_resources, {"test: ", count.c_str(), "complete some first"},
               [&] { rig.start(*pool, buffers); });
  rig.provider().deliver(0, bytes_of(8, 0));
  rig.provider().complete_send(1);
  rig.poll();
  runs.push_back(&rig.start(*pool, buffers));
  rig.provider().settle_all(8);
  rig.poll();
  for (core::Run* run : runs) {
    EXPECT_TRUE(run->done() && run->status().ok());
    rig.let_go(*run);
  }
}

TEST(Sequence, NumbersThatWrapStayApart) {
  RecordingRig::Options options = narrow_tags();
  options.config.sequence_start = ~0ull - 20;
  RecordingRig rig(options);
  Buffers buffers(8);
  const auto pool = rig.pool(exchange_with({1}, 8));
  std::vector<core::Run*> runs;
  for (int i = 0; i < 100; ++i) runs.push_back(&rig.start(*pool, buffers));
  std::set<std::uint64_t> tags;
  for (const Post& post : rig.provider().posts())
    if (post.kind == kRecv) tags.insert(post.tag);
  EXPECT_EQ(tags.size(), 100u);
  rig.provider().settle_all(8);
  rig.poll();
  for (core::Run* run : runs) rig.let_go(*run);
}

TEST(Sequence, ExchangesGoOnAcrossTheWrap) {
  for (const bool directed_receive : {false, true}) {
    Config config = caller_config();
    config.sequence_start = (1ull << 24) - 5;
    InProcessJob job(4, config, {.seed = 9, .directed_receive = directed_receive});
    const auto communicators = job.communicators([](Rank) { return Cartesian({4}, {true}); });
    std::vector<std::unique_ptr<Exchange>> exchanges;
    std::vector<core::Run*> runs;
    for (std::uint32_t i = 0; i < 12; ++i) {
      exchanges.push_back(std::make_unique<Exchange>(communicators, ExchangeOptions{.longest_bytes = 60}));
      exchanges.back()->reset(i);
      for (Rank rank = 0; rank < 4; ++rank) runs.push_back(&exchanges.back()->start(rank));
    }
    job.finish(runs);
    for (core::Run* run : runs) EXPECT_TRUE(release(*run).ok());
    for (const auto& exchange : exchanges)
      for (Rank rank = 0; rank < 4; ++rank) exchange->check(rank);
  }
}

/// Starts an exchange on a communicator with two neighbours, as a binding does.
class CachedExchange : public testing::Test {
 protected:
  CachedExchange() {
    communicator_ = rig_.communicator(core::ContextId{0, 1});
    communicator_->set_topology(Cartesian({4}, {true}));
  }

  core::Run& start() {
    const core::Lock lock(rig_.engine());
    return collectives::start_neighbor_xchg(
        *communicator_, buffers_.send.data(), buffers_.recv.data(),
        {.send = collectives::BlockList::regular(block_, 1, 2), .recv = collectives::BlockList::regular(block_, 1, 2)});
  }
  void settle() {
    const PausedCount paused;
    rig_.provider().settle_all(block_.size());
  }

  RecordingRig rig_;
  std::shared_ptr<core::Communicator> communicator_;
  Layout block_ = Layout::vector(4, 1, 8, Layout::contiguous(4));
  Buffers buffers_{100};
};

TEST_F(CachedExchange, AllocatesNothingTheSecondTime) {
  std::size_t allocations[3] = {};
  for (std::size_t& count : allocations) {
    const std::size_t before = allocation_count();
    core::Run& run = start();
    settle();
    core::wait(run);
    EXPECT_TRUE(run.status().ok());
    rig_.let_go(run);
    count = allocation_count() - before;
  }
  EXPECT_GT(allocations[0], 0u) << "the count does not count";
  EXPECT_EQ(allocations[1], 0u);
  EXPECT_EQ(allocations[2], 0u);
}

TEST_F(CachedExchange, AllocatesNothingWhenPostsAreRefused) {
  for (const bool counted : {false, true}) {
    rig_.provider().refuse(5);
    const std::size_t before = allocation_count();
    core::Run& run = start();
    for (int i = 0; i < 5; ++i) rig_.poll();
    settle();
    core::wait(run);
    rig_.let_go(run);
    if (counted) {
      EXPECT_EQ(allocation_count(), before);
    }
  }
}

}  // namespace
}  // namespace fab::test
