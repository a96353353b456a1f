// The explorer against what C++ says of a few small programs: every outcome that is allowed, and no other.
#include "model/explorer.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace fab::model {
namespace {

using Outcomes = std::set<std::pair<unsigned, unsigned>>;

class ExplorerTest : public testing::Test {
 protected:
  /// What the second thread read, or both did, in all executions.
  Outcomes outcomes_of(const std::vector<Explorer::Body>& bodies) {
    Outcomes outcomes;
    bool any = false;
    const auto note = [&] {
      if (any) outcomes.insert(got_);
      any = true;
    };
    EXPECT_EQ(explorer_.explore(note, bodies).failure, "");
    note();
    return outcomes;
  }

  Explorer explorer_;
  Atomic<unsigned> x_{};
  Atomic<unsigned> y_{};
  std::pair<unsigned, unsigned> got_;
};

constexpr auto kRelaxed = std::memory_order_relaxed;

TEST_F(ExplorerTest, MessagePassing) {
  const auto outcomes = [&](std::memory_order store, std::memory_order load) {
    return outcomes_of({[&, store] {
                          x_.store(1, kRelaxed);
                          y_.store(1, store);
                        },
                        [&, load] {
                          got_.first = y_.load(load);
                          got_.second = x_.load(kRelaxed);
                        }});
  };
  const Outcomes weak = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ(outcomes(kRelaxed, std::memory_order_acquire), weak);
  EXPECT_EQ(outcomes(std::memory_order_release, kRelaxed), weak);
  EXPECT_EQ(outcomes(std::memory_order_release, std::memory_order_acquire), (Outcomes{{0, 0}, {0, 1}, {1, 1}}));
}

TEST_F(ExplorerTest, StoreBuffering) {
  const auto outcomes = [&](std::memory_order order, bool barrier) {
    return outcomes_of({[&, order] {
                          x_.store(1, order);
                          got_.first = y_.load(order);
                        },
                        [&, order, barrier] {
                          y_.store(1, order);
                          if (barrier) explorer_.barrier_on_all();
                          got_.second = x_.load(order);
                        }});
  };
  const Outcomes ordered = {{0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ(outcomes(kRelaxed, false), (Outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(outcomes(std::memory_order_seq_cst, false), ordered);
  EXPECT_EQ(outcomes(kRelaxed, true), ordered);
}

TEST_F(ExplorerTest, NoThreadSeesAnOlderValueAgain) {
  EXPECT_EQ(outcomes_of({[&] { x_.store(1, kRelaxed); },
                         [&] {
                           got_.first = x_.load(kRelaxed);
                           got_.second = x_.load(kRelaxed);
                         }}),
            (Outcomes{{0, 0}, {0, 1}, {1, 1}}));
}

TEST_F(ExplorerTest, NoTwoExchangesReadOneValue) {
  EXPECT_EQ(
      outcomes_of({[&] { got_.first = x_.fetch_add(1, kRelaxed); }, [&] { got_.second = x_.fetch_add(1, kRelaxed); }}),
      (Outcomes{{0, 1}, {1, 0}}));
}

// x_ counts as released by the first thread although the exchange in between is relaxed.
TEST_F(ExplorerTest, AnExchangeContinuesAReleaseSequence) {
  const Outcomes outcomes = outcomes_of({[&] {
                                           y_.store(1, kRelaxed);
                                           x_.store(1, std::memory_order_release);
                                         },
                                         [&] { x_.fetch_add(10, kRelaxed); },
                                         [&] {
                                           got_.first = x_.load(std::memory_order_acquire);
                                           got_.second = y_.load(kRelaxed);
                                         }});
  EXPECT_TRUE(outcomes.contains({11, 1}));
  EXPECT_FALSE(outcomes.contains({11, 0}));
  EXPECT_TRUE(outcomes.contains({10, 0}));
}

TEST_F(ExplorerTest, AValueThatIsNeverStoredIsWaitedForInVain) {
  const auto wait = [&] {
    while (x_.load(kRelaxed) == 0) explorer_.pause();
  };
  EXPECT_EQ(explorer_.explore([] {}, {wait, [&] { y_.store(1, kRelaxed); }}).failure, "no thread can go on");
  EXPECT_EQ(explorer_.explore([] {}, {wait, [&] { x_.store(1, kRelaxed); }}).failure, "");
}

}  // namespace
}  // namespace fab::model
