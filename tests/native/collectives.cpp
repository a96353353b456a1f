// The collectives of the native API under mpirun, without MPI in the process.
#include "fab/collectives.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <numeric>
#include <thread>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"
#include "support/comes_true.h"
#include "support/head_start.h"
#include "support/message_of.h"
#include "support/peek.h"

namespace fab {
namespace {

using namespace std::chrono_literals;

using Collectives = test::OnAllRanks;

/// Of short vectors, long ones, and ones that are cut into segments.
constexpr std::size_t kLengths[] = {0, 1, 5, 1000, 8192, 8193, 50'000};

std::vector<double> values_of(int rank, std::size_t elements) {
  std::vector<double> values(elements);
  std::iota(values.begin(), values.end(), rank * 1000.0);
  return values;
}

std::vector<double> sums_of(int ranks, std::size_t elements) {
  std::vector<double> sums(elements, 0);
  for (int rank = 0; rank < ranks; ++rank)
    for (std::size_t i = 0; i < elements; ++i) sums[i] += rank * 1000.0 + static_cast<double>(i);
  return sums;
}

/// Which ranks took part, in which order: composition does not commute.
struct Range {
  int first;
  int last;
};

struct Join {
  Range operator()(const Range& lower, const Range& higher) const {
    const bool adjacent = lower.last + 1 == higher.first;
    return adjacent ? Range{lower.first, higher.last} : Range{-1000, -1000};
  }
};

// The late rank comes once the others have seen that they have to wait.
TEST_F(Collectives, BarrierLetsNoRankPassBeforeAllHaveCome) {
  const Communicator other = world().duplicate();
  for (int late = 0; late < size(); ++late) {
    std::array<int, 1> seen{0};
    Request coming;
    if (rank() != late) {
      coming = barrier.start(world());
      for (int i = 0; i < 20; ++i) EXPECT_FALSE(coming.test());
      seen[0] = 1;
    }
    reduce(other, seen, ReduceOp::sum, Root{late});
    if (rank() == late) {
      EXPECT_EQ(seen[0], size() - 1);
      coming = barrier.start(world());
    }
    coming.wait();
  }
}

TEST_F(Collectives, BcastFromEveryRoot) {
  for (const std::size_t elements : kLengths)
    for (Rank root = 0; root < size(); ++root) {
      std::vector<double> buffer = rank() == root ? values_of(root, elements) : std::vector<double>(elements, -1);
      bcast(world(), buffer, Root{root});
      ASSERT_EQ(buffer, values_of(root, elements)) << "root " << root;
    }
}

TEST_F(Collectives, ReduceToEveryRoot) {
  for (const std::size_t elements : kLengths)
    for (Rank root = 0; root < size(); ++root) {
      const std::vector<double> mine = values_of(rank(), elements);
      std::vector<double> all(rank() == root ? elements : 0, -1);
      reduce(world(), mine, all, ReduceOp::sum, Root{root});
      if (rank() == root) {
        ASSERT_EQ(all, sums_of(size(), elements));
      }
      std::vector<double> in_place = mine;
      reduce(world(), in_place, ReduceOp::sum, Root{root});
      ASSERT_EQ(in_place, rank() == root ? sums_of(size(), elements) : mine);
    }
}

TEST_F(Collectives, AllreduceOfAllLengths) {
  for (const std::size_t elements : kLengths) {
    const std::vector<double> mine = values_of(rank(), elements);
    std::vector<double> all(elements, -1);
    allreduce(world(), mine, all, ReduceOp::sum);
    ASSERT_EQ(all, sums_of(size(), elements));
    allreduce(world(), all, ReduceOp::max);  // the same on all ranks, so nothing changes
    ASSERT_EQ(all, sums_of(size(), elements));
  }
}

// The operands do not commute: of all ranks the lowest one keeps its elements in the result.
TEST_F(Collectives, ReplaceKeepsTheElementsOfTheLowestRank) {
  for (const std::size_t count : {1u, 100u, 20'000u}) {
    std::vector<double> values(count, rank());
    allreduce(world(), values, ReduceOp::replace);
    EXPECT_EQ(values, std::vector<double>(count, 0.0));
    std::vector<double> last(count, rank());
    reduce(world(), last, Operator::of<double>(ReduceOp::replace), Root{size() - 1});
    EXPECT_EQ(last, std::vector<double>(count, rank() == size() - 1 ? 0.0 : rank()));
  }
}

TEST_F(Collectives, OfColumnsOfAMatrix) {
  constexpr std::size_t kRows = 300;
  const Layout column = Layout::vector(kRows, 1, 4 * sizeof(double), Layout::contiguous(sizeof(double)));
  std::vector<double> matrix(4 * kRows, rank());
  allreduce(world(), matrix.data() + 2, column, Operator::of<double>(ReduceOp::sum));
  for (std::size_t i = 0; i < matrix.size(); ++i)
    ASSERT_EQ(matrix[i], i % 4 == 2 ? size() * (size() - 1) / 2.0 : rank()) << i;
  bcast(world(), matrix.data(), column, Root{size() - 1});
  for (std::size_t i = 0; i < kRows; ++i) ASSERT_EQ(matrix[4 * i], size() - 1);
}

// The progress thread brings the messages, and calls nothing of the user's.
TEST_F(Collectives, UserFunctionsRunInOrderOnTheThreadThatWaits) {
  std::vector<std::thread::id> callers;
  const auto join = [&callers](const Range& lower, const Range& higher) {
    callers.push_back(std::this_thread::get_id());
    return Join()(lower, higher);
  };
  for (const std::size_t elements : {1u, 3u, 20'000u})
    for (Rank root = 0; root < size(); ++root) {
      const std::vector<Range> mine(elements, Range{rank(), rank()});
      std::vector<Range> all(elements, Range{-1, -1});
      std::vector<Range> everywhere(elements, Range{-1, -1});
      const Operator operation = Operator::of<Range>(join, false);
      Request first = reduce.start(world(), mine, all, operation, Root{root});
      Request second = allreduce.start(world(), mine, everywhere, operation);
      test::give_head_start(1ms);
      second.wait();
      first.wait();
      for (std::size_t i = 0; i < elements; ++i) {
        ASSERT_EQ(everywhere[i].first, 0);
        ASSERT_EQ(everywhere[i].last, size() - 1);
        ASSERT_EQ(all[i].last, rank() == root ? size() - 1 : -1);
      }
    }
  for (const std::thread::id caller : callers) ASSERT_EQ(caller, std::this_thread::get_id());
  // Which ranks combine is the algorithms' choice; each element takes at least one call less than there are ranks.
  std::vector<std::uint64_t> calls{callers.size()};
  allreduce(world(), calls, ReduceOp::sum);
  EXPECT_GE(calls[0], 2 * static_cast<std::uint64_t>(size() - 1) * static_cast<std::uint64_t>(size()) * 20'004);
}

TEST_F(Collectives, PersistentOnesStartedInAnyOrder) {
  constexpr int kStarts = 20;
  constexpr std::size_t kElements = 3000;
  std::vector<double> vector(kElements);
  std::vector<double> sum(kElements);
  std::vector<int> token(5);
  std::vector<PersistentExchange> calls;
  calls.push_back(allreduce.persistent(world(), vector, sum, ReduceOp::sum));
  calls.push_back(bcast.persistent(world(), token));
  calls.push_back(barrier.persistent(world()));
  for (int start = 0; start < kStarts; ++start) {
    std::fill(vector.begin(), vector.end(), rank() + start);
    std::fill(token.begin(), token.end(), rank() == 0 ? start : -1);
    for (int i = 0; i < 3; ++i) calls[static_cast<std::size_t>((i + rank()) % 3)].start();
    PersistentExchange::wait_all(calls);
    ASSERT_EQ(sum.back(), size() * (size() - 1) / 2.0 + start * size());
    ASSERT_EQ(token.back(), start);
  }
}

TEST_F(Collectives, ProgressThreadFinishesWithoutAnyCall) {
  const char* provider = std::getenv("FAB_PROVIDER");
  if (provider != nullptr && std::string(provider) == "shm")
    GTEST_SKIP() << "libfabric's shm has no descriptor that a progress thread could sleep on";
  const std::vector<double> mine = values_of(rank(), 30'000);
  std::vector<double> all(mine.size(), -1);
  const double last = sums_of(size(), mine.size()).back();
  Request request = allreduce.start(world(), mine, all, ReduceOp::sum);
  EXPECT_TRUE(test::comes_true([&] { return test::peek(all.back()) == last; }));
  request.wait();
  barrier(world());  // so that no rank goes before the others have seen it
}

TEST_F(Collectives, ErrorsNameCallArgumentAndValue) {
  std::array<double, 3> data{};
  EXPECT_THAT(test::message_of([&] { bcast(world(), data, Root{size()}); }),
              testing::HasSubstr("bcast: root " + std::to_string(size()) + "; the communicator has ranks 0 to"));
  EXPECT_THAT(test::message_of(
                  [&] { allreduce(world(), data.data(), Layout::contiguous(9), Operator::of<double>(ReduceOp::sum)); }),
              testing::HasSubstr("allreduce: 9 bytes are no whole number of elements of 8 bytes"));
  EXPECT_THAT(test::message_of([&] { allreduce(world(), data, ReduceOp::bit_and); }),
              testing::HasSubstr("bit_and of float64 is not defined"));
  EXPECT_THAT(test::message_of([&] { allreduce(world(), std::span(data).first(2), data, ReduceOp::sum); }),
              testing::HasSubstr("allreduce: 2 elements to send, 3 to receive"));
}

}  // namespace
}  // namespace fab
