// A call that one rank refuses for its arguments: the others learn which, and the next call meets no old messages.
#include "core/communicator/refused_call.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <vector>

#include "collectives/calls/exchange_calls.h"
#include "collectives/neighbor/neighbor_xchg.h"
#include "collectives/start.h"
#include "core/run/watch.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/turned_clock.h"

namespace fab::test {
namespace {

using collectives::BlockList;
using collectives::CollectiveCall;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

constexpr const char* kReason = "count is -1; valid is 0 or more";

/// What all ranks but one call, by the bytes of a block, and who must learn of the refusal.
struct Called {
  const char* name;
  core::Run& (*start)(core::Communicator&, std::byte* send, std::byte* recv, const Layout& block);
  bool all_depend = true;
};

template <auto kMakeCall>
core::Run& start_call(core::Communicator& its, std::byte* send, std::byte* recv, const Layout& block) {
  core::engine_lock.assert_held();
  return collectives::start(its, send, recv, kMakeCall(block, its.size()));
}

const Called kCalls[] = {
    {"barrier", start_call<[](const Layout&, int) { return collectives::barrier_call(); }>},
    {"bcast", start_call<[](const Layout& block, int) { return collectives::bcast_call(block, 1); }>},
    {"allreduce", start_call<[](const Layout& block, int) {
       return collectives::allreduce_call(block, Operator::of(ReduceOp::sum, ElementType::uint8), false);
     }>},
    {"alltoall",
     start_call<[](const Layout& block, int ranks) { return collectives::alltoall_call(block, ranks, false); }>},
    {"neighbor_xchg",
     [](core::Communicator& its, std::byte* send, std::byte* recv, const Layout& block) -> core::Run& {
       core::engine_lock.assert_held();
       return collectives::start_neighbor_xchg(
           its, send, recv, {.send = BlockList::regular(block, 1, 2), .recv = BlockList::regular(block, 1, 2)});
     },
     false},
};

struct Case {
  int ranks;
  std::size_t bytes;
};
void PrintTo(const Case& each, std::ostream* out) { *out << each.ranks << "x" << each.bytes; }

class RefusedCall : public testing::TestWithParam<Case> {
 protected:
  static constexpr Rank kRefusing = 1;

  void open(const Config& config, const NetworkOptions& network = {.seed = 29}) {
    job_.emplace(GetParam().ranks, config, network);
    for (Rank rank = 0; rank < job_->size(); ++rank) job_->context(rank).set_clock(TurnedClock::now);
    communicators_ = job_->communicators([](Rank) { return Cartesian({GetParam().ranks}, {true}); });
  }
  void refuse(const core::Communicator& of, bool persistent = false) {
    auto& communicator = const_cast<core::Communicator&>(of);
    const auto refuses = []() -> int { throw Error(Errc::invalid_count, kReason); };
    EXPECT_THROW(
        persistent ? core::in_order_of_persistent(communicator, refuses) : core::in_order(communicator, refuses),
        Error);
  }
  /// As callers that wait do, by a clock that seconds pass on.
  void wait_for(const std::vector<core::Run*>& runs) {
    std::vector<core::Pending*> pending(runs.begin(), runs.end());
    std::vector<core::Watch> watches;
    for (std::size_t i = 0; i < runs.size(); ++i)
      watches.emplace_back(std::span(&pending[i], 1), runs[i]->membership().runtime());
    for (int turn = 0; turn < 20; ++turn) {
      for (core::Watch& watch : watches) watch.look();
      for (int i = 0; i < 1000; ++i) job_->progress();
      TurnedClock::turn(std::chrono::milliseconds(400));
    }
    job_->finish(runs);
  }
  /// As callers that test now and then.
  void test_until_done(const std::vector<core::Run*>& runs) {
    for (int turn = 0; turn < 20; ++turn) {
      for (core::Run* run : runs)
        if (!run->done()) core::look_at_tested(*run);
      for (int i = 0; i < 1000; ++i) job_->progress();
      TurnedClock::turn(std::chrono::milliseconds(400));
    }
    job_->finish(runs);
  }
  std::vector<core::Run*> start_others(const Called& called, Rank but) {
    std::vector<core::Run*> runs;
    for (const auto& communicator : communicators_) {
      if (communicator->rank() == but) continue;
      runs.push_back(&start_locked(*communicator, [&](core::Communicator& its) -> core::Run& {
        return called.start(its, send_.data(), memory(its.rank()), block_);
      }));
    }
    return runs;
  }
  std::byte* memory(Rank rank) { return recv_[static_cast<std::size_t>(rank)].data(); }
  /// The next call is like any other, its data too.
  void expect_agreement() {
    std::vector<core::Run*> runs;
    for (const auto& communicator : communicators_) {
      std::fill_n(memory(communicator->rank()), block_.size(), communicator->rank() == 0 ? std::byte{7} : std::byte{9});
      runs.push_back(&start_locked(*communicator, [&](core::Communicator& its) -> core::Run& {
        core::engine_lock.assert_held();
        return collectives::start(its, nullptr, memory(its.rank()), collectives::bcast_call(block_, 0));
      }));
    }
    job_->finish(runs);
    for (core::Run* run : runs) {
      const Rank rank = run->membership().rank();
      const Status status = release(*run);
      EXPECT_TRUE(status.ok()) << status.message;
      EXPECT_THAT(std::vector(memory(rank), memory(rank) + block_.size()), Each(std::byte{7})) << "rank " << rank;
    }
  }

  Layout block_ = Layout::contiguous(GetParam().bytes);
  std::vector<std::byte> send_ = std::vector<std::byte>(16 * GetParam().bytes, std::byte{1});
  std::vector<std::vector<std::byte>> recv_{16, std::vector<std::byte>(16 * GetParam().bytes)};
  std::optional<InProcessJob> job_;
  InProcessJob::Communicators communicators_;
};

INSTANTIATE_TEST_SUITE_P(Ranks, RefusedCall,
                         testing::Values(Case{2, 8}, Case{3, 8}, Case{5, 8}, Case{8, 8}, Case{3, 100'000},
                                         Case{5, 100'000}));

TEST_P(RefusedCall, PeersThatWaitLearnWhoHasRefusedIt) {
  for (const Called& called : kCalls) {
    SCOPED_TRACE(called.name);
    open(caller_config());
    for (int time = 0; time < 3; ++time) {
      refuse(*communicators_[kRefusing]);
      const auto runs = start_others(called, kRefusing);
      wait_for(runs);
      int told = 0;
      for (core::Run* run : runs) {
        const Status status = release(*run);
        if (status.ok()) {
          EXPECT_FALSE(called.all_depend) << "rank " << run->membership().rank();
          continue;
        }
        EXPECT_EQ(status.errc(), Errc::mismatch) << status.message;
        EXPECT_THAT(status.message, HasSubstr("rank 1 of the job")) << "no matter which rank reports it";
        if (status.message.find("rank 1 of the job has refused this call: " + std::string(kReason)) !=
            std::string::npos)
          ++told;
      }
      EXPECT_GT(told, 0) << "no rank knows why";
      expect_agreement();
    }
  }
}

class RefusedCallOfThree : public RefusedCall {};
INSTANTIATE_TEST_SUITE_P(Ranks, RefusedCallOfThree, testing::Values(Case{3, 8}));

// A rank that waited too long refuses as well, and another one may know better for whom.
TEST_P(RefusedCallOfThree, IsToldTogetherWithWhoElseIsMissing) {
  open(caller_config());
  refuse(*communicators_[kRefusing]);
  core::Run& run = start_locked(*communicators_[0], [&](core::Communicator& its) -> core::Run& {
    return std::end(kCalls)[-1].start(its, send_.data(), memory(0), block_);
  });
  wait_for({&run});
  EXPECT_THAT(release(run).message,
              AllOf(HasSubstr(kReason), HasSubstr("; still pending here: "), HasSubstr("receive from rank 2 ")));
}

TEST_P(RefusedCall, PeersThatOnlyTestLearnOfIt) {
  for (const Called& called : kCalls) {
    SCOPED_TRACE(called.name);
    open(caller_config());
    refuse(*communicators_[kRefusing]);
    const auto runs = start_others(called, kRefusing);
    test_until_done(runs);
    int told = 0;
    for (core::Run* run : runs) {
      const Status status = release(*run);
      EXPECT_TRUE(!status.ok() || !called.all_depend) << "rank " << run->membership().rank();
      if (status.message.find("rank 1 of the job has refused this call: " + std::string(kReason)) != std::string::npos)
        ++told;
    }
    EXPECT_GT(told, 0) << "no rank knows why";
    expect_agreement();
  }
}

// As a context that closes does. Otherwise the calls would stay for ever, and keep their contexts open.
TEST_P(RefusedCall, EndsAlsoOnceNoHandleIsLeft) {
  open(caller_config());
  refuse(*communicators_[kRefusing]);
  for (core::Run* run : start_others(kCalls[0], kRefusing)) {
    const core::Lock lock(run->membership().engine());
    run->let_go();
  }
  const auto any_active = [&] {
    bool any = false;
    for (Rank rank = 0; rank < job_->size(); ++rank) {
      core::Engine& engine = job_->context(rank).engine();
      const core::Lock lock(engine);
      engine.for_each_active([](core::Pending& pending) FAB_REQUIRES(core::engine_lock) { pending.stalled(); });
      any |= rank != kRefusing && engine.active() > 0;
    }
    return any;
  };
  bool active = true;
  for (int turn = 0; turn < 1000 && active; ++turn) {
    for (int i = 0; i < 100; ++i) job_->progress();
    active = any_active();
  }
  EXPECT_FALSE(active);
  expect_agreement();
}

// Their questions lie where the network has put them until the rank that refuses sends its first message.
TEST_P(RefusedCall, IsToldToThoseWhoHaveAskedBefore) {
  for (const Called& called : kCalls) {
    SCOPED_TRACE(called.name);
    open(caller_config(), {.seed = 29, .directed_receive = false, .early_messages_block = true});
    const auto runs = start_others(called, kRefusing);
    for (int turn = 0; turn < 10; ++turn) {
      for (core::Run* run : runs)
        if (!run->done()) core::look_at_tested(*run);
      for (int i = 0; i < 1000; ++i) job_->progress();
      TurnedClock::turn(std::chrono::milliseconds(400));
    }
    {
      const core::Lock lock(job_->context(kRefusing).engine());
      EXPECT_EQ(job_->context(kRefusing).messages(), nullptr) << "it answers before it has refused anything";
    }
    refuse(*communicators_[kRefusing]);
    wait_for(runs);
    int told = 0;
    for (core::Run* run : runs) {
      const Status status = release(*run);
      EXPECT_TRUE(!status.ok() || !called.all_depend) << "rank " << run->membership().rank();
      told += status.message.find("rank 1 of the job has refused this call") != std::string::npos ? 1 : 0;
    }
    EXPECT_GT(told, 0) << "no rank knows why";
    expect_agreement();
  }
}

TEST_P(RefusedCall, ByAllRanksCostsNoMessage) {
  open(caller_config());
  for (const auto& communicator : communicators_) refuse(*communicator);
  for (int i = 0; i < 100; ++i) job_->progress();
  EXPECT_EQ(job_->network().messages(), 0u);
  expect_agreement();
}

TEST_P(RefusedCall, IsKnownAtOnceWhereCallsAreCompared) {
  Config config = caller_config();
  config.check = true;
  for (const Called& called : kCalls) {
    SCOPED_TRACE(called.name);
    open(config);
    refuse(*communicators_[kRefusing]);
    const auto runs = start_others(called, kRefusing);
    job_->finish(runs);
    for (core::Run* run : runs)
      EXPECT_THAT(release(*run).message, HasSubstr(fmt::format("rank 1 has refused call 1: {}", kReason)));
    expect_agreement();
    EXPECT_EQ(job_->left_over(), 0u);
  }
}

TEST_P(RefusedCall, ThatMakesAPersistentExchangeIsKnownWhenThatStarts) {
  for (const bool check : {false, true}) {
    SCOPED_TRACE(check ? "compared" : "not compared");
    Config config = caller_config();
    config.check = check;
    open(config);
    std::vector<std::unique_ptr<core::Persistent>> refused;
    std::vector<std::unique_ptr<core::Persistent>> next;
    const auto make = [&](const std::shared_ptr<core::Communicator>& its) {
      return std::make_unique<core::Persistent>(collectives::make(its, nullptr, nullptr, collectives::barrier_call()));
    };
    for (const auto& communicator : communicators_) {
      if (communicator->rank() == kRefusing)
        refuse(*communicator, true);
      else
        refused.push_back(make(communicator));
      next.push_back(make(communicator));
    }
    const auto start = [](auto& exchanges) {
      std::vector<core::Run*> runs;
      for (auto& exchange : exchanges) {
        const core::Lock lock(exchange->engine());
        exchange->start();
        runs.push_back(&exchange->run());
      }
      return runs;
    };
    const auto runs = start(refused);
    wait_for(runs);
    for (core::Run* run : runs) EXPECT_THAT(run->status().message, HasSubstr("rank 1 of the job"));
    for (auto& exchange : refused) exchange->end();
    const auto others = start(next);
    job_->finish(others);
    for (core::Run* run : others) EXPECT_TRUE(run->status().ok()) << run->status().message;
    for (auto& exchange : next) exchange->end();
  }
}

}  // namespace
}  // namespace fab::test
