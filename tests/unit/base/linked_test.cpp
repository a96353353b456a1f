// The list that takes no memory of its own.
#include "core/base/linked.h"

#include <gtest/gtest.h>

#include <vector>

namespace fab::test {
namespace {

using core::Linked;

struct Item : Linked {
  explicit Item(int its_value) : value(its_value) {}
  int value;
};

/// Empties the list.
std::vector<int> drain(Linked& list) {
  std::vector<int> values;
  while (!list.is_empty()) {
    auto& element = static_cast<Item&>(list.first());
    values.push_back(element.value);
    element.leave();
  }
  return values;
}

class LinkedTest : public testing::Test {
 protected:
  Linked list_;
  Item one_{1}, two_{2}, three_{3};
};

TEST_F(LinkedTest, KeepsTheOrderInWhichItemsCome) {
  EXPECT_TRUE(list_.is_empty());
  list_.push_back(two_);
  list_.push_back(three_);
  list_.push_front(one_);
  EXPECT_FALSE(list_.is_empty());
  EXPECT_EQ(drain(list_), (std::vector{1, 2, 3}));
}

TEST_F(LinkedTest, AnElementLeavesFromAnyPlaceAndMayComeBack) {
  const std::vector<int> rests[] = {{2, 3, 1}, {1, 3, 2}, {1, 2, 3}};
  Item* const elements[] = {&one_, &two_, &three_};
  for (int leaving = 0; leaving < 3; ++leaving) {
    for (Item* element : elements) list_.push_back(*element);
    elements[leaving]->leave();
    list_.push_back(*elements[leaving]);
    EXPECT_EQ(drain(list_), rests[leaving]);
  }
}

TEST_F(LinkedTest, TakesOverAllOfAnotherListWhichIsEmptyThen) {
  list_.push_back(one_);
  list_.push_back(two_);
  Linked other;
  other.take_all(list_);
  EXPECT_TRUE(list_.is_empty());
  list_.push_back(three_);  // the old head is of use again
  EXPECT_EQ(drain(list_), std::vector{3});
  EXPECT_EQ(drain(other), (std::vector{1, 2}));
}

TEST_F(LinkedTest, TakesOverAnEmptyList) {
  Linked other;
  other.take_all(list_);
  EXPECT_TRUE(other.is_empty());
  EXPECT_TRUE(list_.is_empty());
}

TEST_F(LinkedTest, ACopyIsInNoList) {
  list_.push_back(one_);
  const Item copy = one_;
  EXPECT_TRUE(copy.is_empty());
  EXPECT_EQ(drain(list_), std::vector{1});
}

}  // namespace
}  // namespace fab::test
