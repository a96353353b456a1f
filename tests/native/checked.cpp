// FAB_CHECK under mpirun: if ranks make different calls, each of them gets an error that names both calls, even if it
// only tests.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The last rank calls something else than the others.
class Checked : public test::OnAllRanks {
 protected:
  void SetUp() override {
    if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  }
  static bool odd() { return rank() == size() - 1; }

  /// How a call ends here.
  static Error error_of(Request request, bool tests) {
    try {
      if (!tests) request.wait();
      while (!request.test()) std::this_thread::yield();
    } catch (const Error& error) {
      return error;
    }
    return {Errc::invalid_argument, "no error"};
  }
  void expect_told(const std::function<Request()>& usual, const std::string& usual_words,
                   const std::function<Request()>& other, const std::string& other_words) {
    SCOPED_TRACE(usual_words + " and " + other_words);
    for (const bool tests : {false, true}) {
      const Error error = error_of(odd() ? other() : usual(), tests);
      EXPECT_EQ(error.errc(), Errc::mismatch) << error.what();
      EXPECT_THAT(error.what(), AllOf(HasSubstr(fmt::format("rank {} called {}", size() - 1, other_words)),
                                      HasSubstr(fmt::format("called {}", usual_words))));
    }
    EXPECT_NO_THROW(barrier(world())) << "the next call is like any other";
  }

  std::function<Request()> allreduce_of(ReduceOp op) {
    return [this, op] { return allreduce.start(world(), doubles_, op); };
  }
  std::function<Request()> bcast_of(Rank root, std::size_t elements) {
    return [this, root, elements] { return bcast.start(world(), std::span(doubles_).first(elements), Root{root}); };
  }

  std::vector<double> doubles_ = std::vector<double>(4);
  std::vector<long> longs_ = std::vector<long>(4);
};

TEST_F(Checked, Kind) {
  expect_told([] { return barrier.start(world()); }, "barrier(", allreduce_of(ReduceOp::sum),
              "allreduce(sum of float64");
  expect_told(allreduce_of(ReduceOp::sum), "allreduce(", bcast_of(0, 4), "bcast(root 0, 32 bytes");
}

TEST_F(Checked, Root) { expect_told(bcast_of(0, 4), "bcast(root 0", bcast_of(1, 4), "bcast(root 1"); }

TEST_F(Checked, Operation) {
  expect_told(allreduce_of(ReduceOp::sum), "allreduce(sum of float64", allreduce_of(ReduceOp::max),
              "allreduce(max of float64");
}

TEST_F(Checked, ElementType) {
  expect_told(
      allreduce_of(ReduceOp::sum), "allreduce(sum of float64",
      [this] { return allreduce.start(world(), longs_, ReduceOp::sum); }, "allreduce(sum of int64");
}

TEST_F(Checked, Count) {
  expect_told(bcast_of(0, 4), "bcast(root 0, 32 bytes", bcast_of(0, 3), "bcast(root 0, 24 bytes");
}

TEST_F(Checked, Order) {
  const bool first_is_barrier = odd();
  for (const bool is_barrier : {first_is_barrier, !first_is_barrier}) {
    const Error error = error_of(is_barrier ? barrier.start(world()) : bcast_of(0, 4)(), true);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("called barrier("), HasSubstr("called bcast(root 0")));
  }
}

// In a line of ranks the last two find it, and the others are told.
TEST_F(Checked, CountAlongAnEdge) {
  const Communicator line = world().cartesian({size()}, {false});
  const std::size_t bytes = odd() ? 12 : 8;
  for (const bool tests : {false, true}) {
    const Error error =
        error_of(neighbor_xchg.start(line, longs_.data(), doubles_.data(), Layout::contiguous(bytes)), tests);
    EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("12 bytes where 8 were declared"),
                                             HasSubstr("8 bytes where 12 were declared")));
  }
}

}  // namespace
}  // namespace fab
