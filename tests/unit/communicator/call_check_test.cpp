// FAB_CHECK: ranks that make different calls all get an error that names two of the calls, for any kinds of calls.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <vector>

#include "collectives/calls/exchange_calls.h"
#include "collectives/calls/gather_calls.h"
#include "collectives/neighbor/cart_shift_xchg.h"
#include "collectives/neighbor/neighbor_xchg.h"
#include "collectives/start.h"
#include "core/run/wait.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using collectives::BlockList;
using collectives::CollectiveCall;
using testing::AllOf;
using testing::HasSubstr;

using Start = std::function<core::Run&(core::Communicator&)>;

Config checking() {
  Config config = caller_config();
  config.check = true;
  return config;
}

class CallCheck : public testing::TestWithParam<int> {
 protected:
  Layout block_ = Layout::contiguous(32);
  std::vector<std::byte> send_ = std::vector<std::byte>(1 << 18);
  std::vector<std::byte> recv_ = std::vector<std::byte>(1 << 18);
  InProcessJob job_{GetParam(), checking(), {.seed = 23}};
  InProcessJob::Communicators communicators_ = job_.communicators([](Rank) { return Cartesian({GetParam()}, {true}); });

  Start collective(const CollectiveCall& call) {
    return [this, call](core::Communicator& its) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start(its, send_.data(), recv_.data(), call);
    };
  }
  Start allreduce(ReduceOp op, ElementType type, std::size_t bytes = 32) {
    block_ = Layout::contiguous(32);
    blocks_.push_back(std::make_unique<Layout>(Layout::contiguous(bytes)));
    return collective(collectives::allreduce_call(*blocks_.back(), Operator::of(op, type), false));
  }
  Start bcast(Rank root, std::size_t bytes = 32) {
    blocks_.push_back(std::make_unique<Layout>(Layout::contiguous(bytes)));
    return collective(collectives::bcast_call(*blocks_.back(), root));
  }
  Start barrier() { return collective(collectives::barrier_call()); }
  Start xchg() {
    return [this](core::Communicator& its) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start_neighbor_xchg(
          its, send_.data(), recv_.data(),
          {.send = BlockList::regular(block_, 1, 2), .recv = BlockList::regular(block_, 1, 2)});
    };
  }
  Start shift(int displacement) {
    return [this, displacement](core::Communicator& its) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start_cart_shift_xchg(
          its, send_.data(), recv_.data(),
          {.send = {0, 1, &block_}, .recv = {0, 1, &block_}, .dimension = 0, .displacement = displacement});
    };
  }

  /// With blocks of so many bytes, which lie apart.
  Start xchg(std::size_t sent, std::size_t expected) {
    blocks_.push_back(std::make_unique<Layout>(Layout::contiguous(sent)));
    const Layout& send = *blocks_.back();
    blocks_.push_back(std::make_unique<Layout>(Layout::contiguous(expected)));
    const Layout& recv = *blocks_.back();
    return [this, &send, &recv](core::Communicator& its) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start_neighbor_xchg(
          its, send_.data(), recv_.data(),
          {.send = BlockList::regular(send, 1, 2), .recv = BlockList::regular(recv, 1, 2)});
    };
  }
  std::vector<core::Run*> start(const std::function<Start(Rank)>& of_rank) {
    std::vector<core::Run*> runs;
    for (const auto& communicator : communicators_)
      runs.push_back(&start_locked(*communicator, of_rank(communicator->rank())));
    return runs;
  }
  void finish_sooner_or_later(const std::vector<core::Run*>& runs) {
    job_.finish(runs);
    for (int i = 0; i < 1000; ++i) job_.progress();
  }

  std::vector<Status> call(const std::function<Start(Rank)>& of_rank) {
    const auto runs = start(of_rank);
    job_.finish(runs);
    std::vector<Status> statuses;
    for (core::Run* run : runs) statuses.push_back(release(*run));
    return statuses;
  }
  /// One rank, the last, calls something else than all others.
  void expect_differ(const Start& usual, const std::string& usual_words, const Start& odd,
                     const std::string& odd_words) {
    SCOPED_TRACE(usual_words + " and " + odd_words);
    const auto statuses = call([&](Rank rank) { return rank == job_.size() - 1 ? odd : usual; });
    for (const Status& status : statuses) {
      EXPECT_EQ(status.errc(), Errc::mismatch) << status.message;
      EXPECT_THAT(status.message, AllOf(HasSubstr(fmt::format("rank {} called {}", job_.size() - 1, odd_words)),
                                        HasSubstr(fmt::format("called {}", usual_words)), HasSubstr("both as call ")));
    }
  }
  /// The call after those that differed is like any other.
  void expect_agreement() {
    for (const Status& status : call([this](Rank) { return xchg(); })) EXPECT_TRUE(status.ok()) << status.message;
    for (const Status& status : call([this](Rank) { return barrier(); })) EXPECT_TRUE(status.ok()) << status.message;
    EXPECT_EQ(job_.left_over(), 0u);
  }

  std::vector<std::unique_ptr<Layout>> blocks_;
};

INSTANTIATE_TEST_SUITE_P(Ranks, CallCheck, testing::Values(2, 3, 5, 8));

TEST_P(CallCheck, FindsNothingWhereCallsAreTheSame) {
  for (int i = 0; i < 3; ++i) {
    for (const Status& status : call([&](Rank) { return allreduce(ReduceOp::sum, ElementType::float64); }))
      EXPECT_TRUE(status.ok()) << status.message;
    for (const Status& status : call([&](Rank) { return bcast(1); })) EXPECT_TRUE(status.ok()) << status.message;
    for (const Status& status : call([&](Rank) { return bcast(0, 0); })) EXPECT_TRUE(status.ok()) << status.message;
    for (const Status& status : call([&](Rank) { return shift(1); })) EXPECT_TRUE(status.ok()) << status.message;
  }
  expect_agreement();
}

TEST_P(CallCheck, FindsOtherKinds) {
  const Start sum = allreduce(ReduceOp::sum, ElementType::float64);
  const std::string sum_words = "allreduce(sum of float64, 4 elements, by ";
  expect_differ(barrier(), "barrier(by ", sum, sum_words);
  expect_differ(sum, sum_words, bcast(0), "bcast(root 0, 32 bytes, by ");
  expect_differ(xchg(), "neighbor_xchg", barrier(), "barrier(by ");
  expect_differ(bcast(0, 0), "bcast(root 0, 0 bytes, by ", xchg(), "neighbor_xchg");
  expect_agreement();
}

TEST_P(CallCheck, FindsOtherArguments) {
  const Start sum = allreduce(ReduceOp::sum, ElementType::float64);
  const std::string sum_words = "allreduce(sum of float64, 4 elements, by ";
  expect_differ(sum, sum_words, allreduce(ReduceOp::max, ElementType::float64), "allreduce(max of float64, 4 elements");
  expect_differ(sum, sum_words, allreduce(ReduceOp::sum, ElementType::int64), "allreduce(sum of int64, 4 elements");
  expect_differ(sum, sum_words, allreduce(ReduceOp::sum, ElementType::float64, 40),
                "allreduce(sum of float64, 5 elements");
  expect_differ(bcast(0), "bcast(root 0, 32 bytes", bcast(1), "bcast(root 1, 32 bytes");
  expect_differ(bcast(0), "bcast(root 0, 32 bytes", bcast(0, 33), "bcast(root 0, 33 bytes");
  expect_differ(shift(1), "cart_shift_xchg(dimension 0, displacement 1)", shift(-1),
                "cart_shift_xchg(dimension 0, displacement -1)");
  expect_agreement();
}

TEST_P(CallCheck, FindsThatEachRankIsItsOwnRoot) {
  for (const Status& status : call([this](Rank rank) { return bcast(rank); })) {
    EXPECT_EQ(status.errc(), Errc::mismatch);
    EXPECT_THAT(status.message, testing::ContainsRegex("^bcast: rank [0-9] called bcast\\(root [0-9], 32 bytes, by .*, "
                                                       "rank [0-9] called bcast\\(root [0-9], 32 bytes, by "));
  }
  expect_agreement();
}

TEST_P(CallCheck, FindsAnotherOrder) {
  const auto expect_refused = [](const std::vector<Status>& statuses, const char* place) {
    for (const Status& status : statuses)
      EXPECT_THAT(status.message, AllOf(HasSubstr("called barrier("), HasSubstr("called bcast("), HasSubstr(place)));
  };
  expect_refused(call([this](Rank rank) { return rank == 0 ? barrier() : bcast(0); }), "both as call 1 on this");
  expect_refused(call([this](Rank rank) { return rank == 0 ? bcast(0) : barrier(); }), "both as call 2 on this");
  expect_agreement();
}

// Its receivers alone can see that what the last rank sends is longer, or shorter, than they expect.
TEST_P(CallCheck, TellsAllRanksThatTheEndsOfAnEdgeDisagree) {
  const Rank odd = GetParam() - 1;
  for (const auto& [sent, code] : {std::pair{40u, Errc::truncated}, std::pair{24u, Errc::mismatch}}) {
    for (const Status& status : call([&, bytes = sent](Rank rank) { return xchg(rank == odd ? bytes : 32, 32); })) {
      EXPECT_EQ(status.errc(), code) << status.message;
      EXPECT_THAT(status.message,
                  AllOf(testing::StartsWith("neighbor_xchg: "), HasSubstr(fmt::format("receive from rank {} (", odd)),
                        HasSubstr(fmt::format("{} bytes where 32 were declared", sent))));
    }
  }
  expect_agreement();
}

TEST_P(CallCheck, TellsAllRanksThatTheEndsOfALongEdgeDisagree) {
  const Rank odd = GetParam() - 1;
  for (const Status& status : call([&](Rank rank) { return xchg(rank == odd ? 100'000 : 90'000, 90'000); }))
    EXPECT_THAT(status.message, HasSubstr("100000 bytes where 90000 were declared")) << status.errc();
  expect_agreement();
}

TEST_P(CallCheck, TellsAllRanksOfWhatOneOfThemSendsToOneOther) {
  const Layout element = Layout::contiguous(8);
  const auto ranks = static_cast<std::size_t>(GetParam());
  std::vector<int> places(ranks);
  const std::vector<int> ones(ranks, 1);
  std::vector<int> odd = ones;
  odd.back() = 0;  // from rank 0 to the last
  const auto statuses = call([&](Rank rank) {
    return collective(collectives::alltoallv_call(BlockList::irregular(element, rank == 0 ? odd : ones, places),
                                                  BlockList::irregular(element, ones, places), GetParam()));
  });
  for (const Status& status : statuses)
    EXPECT_THAT(status.message, AllOf(testing::StartsWith("alltoallv: "), HasSubstr("receive from rank 0 (8 B"),
                                      HasSubstr("declared")));
  expect_agreement();
}

// One rank gives up, at any time; all others end, and the next calls meet nothing of this one.
TEST_P(CallCheck, SurvivesARankThatGivesUp) {
  expect_agreement();  // so that all have met
  for (int turns = 0;; ++turns) {
    const auto runs = start([this](Rank) { return xchg(); });
    for (int i = 0; i < turns; ++i) job_.progress();
    const bool over = runs.front()->done();
    {
      const core::Lock lock(communicators_.front()->engine());
      runs.front()->abandon({make_error_code(Errc::timed_out), "it waits no longer"});
    }
    EXPECT_TRUE(over || runs.front()->status().errc() == Errc::timed_out);
    finish_sooner_or_later(runs);
    for (core::Run* run : runs) static_cast<void>(release(*run));
    expect_agreement();
    if (over || HasFailure()) break;
  }
}

// Where ranks choose differently, they do not get as far as comparing calls: their settings differ.
TEST(CallCheckOfSettings, FindsAnotherAlgorithm) {
  std::vector<Config> configs(3, checking());
  configs.back().algorithms[static_cast<std::size_t>(Collective::bcast)] = "chain";
  InProcessJob job(configs, {.seed = 31});
  const auto communicators = job.communicators([](Rank) { return std::nullopt; });
  const Layout block = Layout::contiguous(32);
  std::vector<std::byte> memory(3 * block.size());
  std::vector<core::Run*> runs;
  for (const auto& communicator : communicators)
    runs.push_back(&start_locked(*communicator, [&](core::Communicator& its) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start(its, nullptr, &memory[static_cast<std::size_t>(its.rank()) * block.size()],
                                collectives::bcast_call(block, 0));
    }));
  job.finish(runs);
  for (core::Run* run : runs) {
    const Status status = release(*run);
    EXPECT_EQ(status.errc(), Errc::mismatch);
    EXPECT_THAT(status.message, AllOf(HasSubstr("FAB_ALGO_BCAST"), HasSubstr("chain")));
  }
}

TEST_P(CallCheck, ComparesTheStartsOfPersistentExchanges) {
  std::vector<std::unique_ptr<core::Persistent>> same;
  std::vector<std::unique_ptr<core::Persistent>> different;
  for (const auto& communicator : communicators_) {
    const auto make = [&](ReduceOp op) {
      return std::make_unique<core::Persistent>(
          collectives::make(communicator, send_.data(), recv_.data(),
                            collectives::allreduce_call(block_, Operator::of(op, ElementType::int64), false)));
    };
    same.push_back(make(ReduceOp::sum));
    different.push_back(make(communicator->rank() == 0 ? ReduceOp::min : ReduceOp::max));
  }
  const auto start = [this](auto& exchanges) {
    std::vector<core::Run*> runs;
    for (auto& exchange : exchanges) {
      const core::Lock lock(exchange->engine());
      exchange->start();
      runs.push_back(&exchange->run());
    }
    job_.finish(runs);
    for (auto& exchange : exchanges) exchange->end();
    return runs;
  };
  for (int i = 0; i < 3; ++i) {
    for (const core::Run* run : start(same)) EXPECT_TRUE(run->status().ok()) << run->status().message;
    for (const core::Run* run : start(different))
      EXPECT_THAT(run->status().message,
                  AllOf(HasSubstr("called allreduce(min of int64"), HasSubstr("called allreduce(max of int64"),
                        HasSubstr("both as persistent exchange 2 on this communicator")));
  }
  expect_agreement();
}

}  // namespace
}  // namespace fab::test
