// Reductions with the user's functions: their place in runs, and the threads that may call them.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "core/run/wait.h"
#include "support/asleep.h"
#include "support/comes_true.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

constexpr std::size_t kBytes = 8;

Block block_of(BufferId buffer) { return {buffer, 0, Layout::contiguous(kBytes)}; }

/// Receives from rank 1 into scratch, combines that with the receive buffer, sends it to rank 2.
Schedule receive_reduce_send(Reduction reduction, std::size_t element_bytes) {
  ScheduleBuilder builder("test", 3);
  const Block scratch{BufferId::scratch, builder.scratch(kBytes), Layout::contiguous(kBytes)};
  builder.recv(1, 0, scratch);
  builder.round();
  builder.reduce(reduction, element_bytes, scratch, block_of(BufferId::recv));
  builder.round();
  builder.send(2, 0, block_of(BufferId::recv));
  return builder.commit();
}

/// Nothing but a function of the user's.
Schedule only_reduce() {
  ScheduleBuilder builder("test", 3);
  builder.reduce({ReduceOp::user, ElementType::byte}, 4, block_of(BufferId::send), block_of(BufferId::recv));
  return builder.commit();
}

/// Adds bytes, and keeps who called, when how many elements.
struct Function {
  std::atomic<int> calls{0};
  std::thread::id caller;
  std::size_t elements = 0;

  static void call(void* context, const void* in, void* inout, std::size_t elements) {
    auto& self = *static_cast<Function*>(context);
    self.caller = std::this_thread::get_id();
    self.elements = elements;
    for (std::size_t i = 0; i < 4 * elements; ++i)
      static_cast<unsigned char*>(inout)[i] =
          static_cast<unsigned char>(static_cast<unsigned char*>(inout)[i] + static_cast<const unsigned char*>(in)[i]);
    ++self.calls;
  }
  [[nodiscard]] UserReduction user() { return {call, this}; }
};

class UserReductions : public testing::TestWithParam<ProgressMode> {
 protected:
  UserReductions() : rig_(options()) {}

  static RecordingRig::Options options() {
    RecordingRig::Options options;
    options.config.progress = GetParam();
    options.capabilities.wait_fd = true;
    return options;
  }
  core::Run& start(core::RunPool& pool) {
    std::byte* const bases[] = {buffers_.send.data(), buffers_.recv.data()};
    core::Run* run = nullptr;
    {
      const core::Lock lock(rig_.engine());
      run = &rig_.world()->start(pool, bases, function_.user());
    }
    rig_.engine().hand_over_progress();
    return *run;
  }
  [[nodiscard]] std::string pending(const core::Run& run) {
    const core::Lock lock(rig_.engine());
    return run.describe_pending();
  }
  [[nodiscard]] bool waits_for_a_thread(const core::Run& run) {
    if (GetParam() == ProgressMode::caller) rig_.poll();
    return pending(run).find("a thread that waits or tests") != std::string::npos;
  }

  RecordingRig rig_;
  Buffers buffers_{kBytes};
  Function function_;
};

// rig_.poll() is the engine's progress alone, as the progress thread makes it.
INSTANTIATE_TEST_SUITE_P(Progress, UserReductions, testing::Values(ProgressMode::caller, ProgressMode::thread),
                         [](const auto& each) { return each.param == ProgressMode::caller ? "Caller" : "Thread"; });

TEST_P(UserReductions, AreLeftToAThreadThatTests) {
  const auto pool = rig_.pool(receive_reduce_send({ReduceOp::user, ElementType::byte}, 4));
  core::Run& run = start(*pool);
  rig_.provider().deliver(rig_.provider().find(kRecv, 1), bytes_of(kBytes, 5));
  ASSERT_TRUE(comes_true([&] { return waits_for_a_thread(run); })) << pending(run);
  EXPECT_EQ(function_.calls, 0);
  EXPECT_EQ(rig_.provider().count(kSend), 0u);
  EXPECT_FALSE(core::test(run));
  EXPECT_EQ(function_.calls, 1);
  EXPECT_EQ(function_.caller, std::this_thread::get_id());
  EXPECT_EQ(function_.elements, 2u);
  EXPECT_EQ(buffers_.recv, bytes_of(kBytes, 7));
  rig_.provider().complete_send(rig_.provider().find(kSend, 2));
  core::wait(run);
  EXPECT_TRUE(run.status().ok()) << run.status().message;
  rig_.let_go(run);
}

TEST_P(UserReductions, AreDoneByAThreadThatWaits) {
  const auto pool = rig_.pool(only_reduce());
  core::Run& run = start(*pool);
  EXPECT_TRUE(core::complete(run).ok());
  EXPECT_EQ(function_.calls, 1);
  EXPECT_EQ(buffers_.recv, bytes_of(kBytes, 3));
}

TEST_P(UserReductions, WakeAThreadThatWaitsForSomethingElse) {
  const auto pool = rig_.pool(only_reduce());
  Buffers other_buffers(kBytes);
  core::Run& other = rig_.start(exchange_with({1}, kBytes), other_buffers);
  WatchedThread waiting([&] { core::wait(other); });
  const std::thread::id its_id = waiting.id();
  waiting.wait_until_asleep();
  core::Run& run = start(*pool);
  EXPECT_TRUE(comes_true([&] { return run.done(); }));
  EXPECT_EQ(function_.calls, 1);
  EXPECT_EQ(function_.caller, its_id);
  rig_.let_go(run);
  rig_.provider().settle_all(kBytes);
  waiting.join();
  rig_.let_go(other);
}

TEST_P(UserReductions, DoNotHappenOnceTheRunHasEnded) {
  const auto pool = rig_.pool(only_reduce());
  core::Run& run = start(*pool);
  EXPECT_FALSE(run.done());
  {
    const core::Lock lock(rig_.engine());
    run.abandon({make_error_code(Errc::timed_out), "enough"});
  }
  EXPECT_TRUE(run.done());
  EXPECT_TRUE(core::test(run));
  rig_.engine().poll_once();
  EXPECT_EQ(function_.calls, 0);
  rig_.let_go(run);
}

TEST(Reductions, OfFabsOwnNeedNoThread) {
  RecordingRig rig;
  Buffers buffers(kBytes);
  core::Run& run = rig.start(receive_reduce_send({ReduceOp::sum, ElementType::uint8}, 1), buffers);
  rig.provider().deliver(rig.provider().find(kRecv, 1), bytes_of(kBytes, 5));
  rig.poll();
  ASSERT_EQ(rig.provider().count(kSend), 1u) << "one progress does for all that is local";
  EXPECT_EQ(buffers.recv, bytes_of(kBytes, 7));
  rig.provider().complete_send(rig.provider().find(kSend, 2));
  rig.poll();
  EXPECT_TRUE(run.done() && run.status().ok());
  rig.let_go(run);
}

}  // namespace
}  // namespace fab::test
