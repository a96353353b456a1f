// Calls that repeat find their plans by what they say (core/plan/call_brief.h), and others do not take them for theirs.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"
#include "support/message_of.h"

namespace fab {
namespace {

using testing::HasSubstr;

/// Each call below is made with other numbers each time, and checks its result.
class Repeats : public test::OnAllRanks {
 protected:
  static std::size_t ranks() { return static_cast<std::size_t>(size()); }
  static int sum_of_ranks() { return size() * (size() - 1) / 2; }

  /// Element i of what rank `from` has.
  int number(Rank from, std::size_t i) const { return turn_ * 10'000 + from * 100 + static_cast<int>(i); }
  std::vector<int> numbers(Rank from, std::size_t count) const {
    std::vector<int> result(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = number(from, i);
    return result;
  }
  std::vector<int> one_of_each(std::size_t i) const {
    std::vector<int> result;
    for (Rank from = 0; from < size(); ++from) result.push_back(number(from, i));
    return result;
  }
  int sum(std::size_t i) const { return size() * number(0, i) + 100 * sum_of_ranks(); }
  std::size_t own() const { return static_cast<std::size_t>(rank()); }

  void bcasts(std::size_t count, Rank root) const {
    std::vector<int> buffer = numbers(rank(), count);
    bcast(world(), buffer, Root{root});
    EXPECT_EQ(buffer, numbers(root, count)) << root;
  }
  void gathers(Rank root) const {
    std::vector<int> all(rank() == root ? ranks() : 0);
    const int mine = number(rank(), 0);
    gather(world(), mine, all, Root{root});
    if (rank() == root) {
      EXPECT_EQ(all, one_of_each(0)) << root;
    }
  }
  void gathers_in_place(Rank root) const {
    std::vector<int> all(rank() == root ? ranks() : 1);
    all[rank() == root ? own() : 0] = number(rank(), 0);
    gather(world(), all, Root{root});
    if (rank() == root) {
      EXPECT_EQ(all, one_of_each(0)) << root;
    }
  }
  void scatters(Rank root) const {
    const std::vector<int> all = numbers(root, rank() == root ? ranks() : 0);
    int mine = -1;
    scatter(world(), all, mine, Root{root});
    EXPECT_EQ(mine, number(root, own())) << root;
  }
  void scatters_in_place(Rank root) const {
    std::vector<int> all = rank() == root ? numbers(root, ranks()) : std::vector{-1};
    scatter(world(), all, Root{root});
    EXPECT_EQ(all[rank() == root ? own() : 0], number(root, own())) << root;
  }
  void alltoalls(bool in_place) const {
    const std::vector<int> mine = numbers(rank(), ranks());
    std::vector<int> all = mine;
    if (in_place)
      alltoall(world(), all);
    else
      alltoall(world(), mine, all);
    EXPECT_EQ(all, one_of_each(own()));
  }
  void reduces(Rank root, ReduceOp op) const {
    const int mine = number(rank(), 0);
    int result = -1;
    reduce(world(), mine, result, op, Root{root});
    if (rank() == root) {
      EXPECT_EQ(result, op == ReduceOp::sum ? sum(0) : number(size() - 1, 0));
    }
  }
  /// Two elements that lie so far apart.
  void allreduces_an_element(std::ptrdiff_t stride) const {
    const std::vector<int> mine = numbers(rank(), 4);
    std::vector<int> all(4, -1);
    allreduce(world(), mine.data(), all.data(), Layout::vector(2, 1, stride * 4, Layout::contiguous(4)),
              Operator::of<int>(ReduceOp::sum));
    std::vector<int> expected(4, -1);
    for (const std::size_t i : {std::size_t{0}, static_cast<std::size_t>(stride)}) expected[i] = sum(i);
    EXPECT_EQ(all, expected) << stride;
  }
  /// The limit is the function's own.
  void combines_up_to(int limit) const {
    const auto least = [limit](int lower, int higher) { return std::min({limit, lower, higher}); };
    const int mine = 100;
    int result = -1;
    allreduce(world(), mine, result, Operator::of<int>(least, true));
    EXPECT_EQ(result, size() > 1 ? limit : mine);
  }

  void in_turns(const std::vector<std::function<void()>>& calls) {
    for (const auto& call : calls)
      for (int repeats = 0; repeats < 3; ++repeats, ++turn_) call();
    for (int rounds = 0; rounds < 3; ++rounds)
      for (const auto& call : calls) {
        ++turn_;
        call();
      }
  }

 private:
  int turn_ = 0;
};

TEST_F(Repeats, BringTheirOwnData) {
  std::vector<std::function<void()>> calls{[] { barrier(world()); }};
  for (Rank root = 0; root < size(); ++root) {
    calls.emplace_back([this, root] { bcasts(2, root); });
    calls.emplace_back([this, root] { bcasts(4, root); });
    calls.emplace_back([this, root] { gathers(root); });
    calls.emplace_back([this, root] { gathers_in_place(root); });
    calls.emplace_back([this, root] { scatters(root); });
    calls.emplace_back([this, root] { scatters_in_place(root); });
    calls.emplace_back([this, root] { reduces(root, ReduceOp::sum); });
    calls.emplace_back([this, root] { reduces(root, ReduceOp::max); });
  }
  calls.emplace_back([this] { alltoalls(true); });
  calls.emplace_back([this] { alltoalls(false); });
  in_turns(calls);
}

// Layouts come and go, and one may lie where another one has lain.
TEST_F(Repeats, WithALayoutMadeAnewDoNotTakeItForAnotherOne) {
  std::vector<std::function<void()>> calls;
  for (const std::ptrdiff_t stride : {1, 2, 3}) calls.emplace_back([this, stride] { allreduces_an_element(stride); });
  in_turns(calls);
}

TEST_F(Repeats, CallTheFunctionThatTheyAreGiven) {
  std::vector<std::function<void()>> calls;
  for (const int limit : {2, 3, 4}) calls.emplace_back([this, limit] { combines_up_to(limit); });
  in_turns(calls);
}

TEST_F(Repeats, AreRefusedWhereOnlyTheyHaveANullPointer) {
  const Layout layout = Layout::contiguous(8);
  double value = rank() == 0 ? 3 : 0;
  for (int i = 0; i < 3; ++i) bcast(world(), &value, layout);
  EXPECT_EQ(value, 3);
  EXPECT_THAT(test::message_of([&] { bcast(world(), nullptr, layout); }), HasSubstr("null pointer"));
  bcast(world(), &value, layout);
  const std::span<double> nowhere(static_cast<double*>(nullptr), 1);
  for (int i = 0; i < 3; ++i) bcast(world(), value);
  EXPECT_THAT(test::message_of([&] { bcast(world(), nowhere); }), HasSubstr("null pointer"));
  bcast(world(), value);
  EXPECT_EQ(value, 3);
}

}  // namespace
}  // namespace fab
