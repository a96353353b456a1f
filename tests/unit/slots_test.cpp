// The pool of records with numbers.
#include "core/base/slots.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unit/allocation_count.h"

namespace fab::test {
namespace {

using core::Slots;

struct Entry {
  Entry(int what, std::uint32_t its_number) : made_of(what), number(its_number) {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  int made_of;
  std::uint32_t number;
};

TEST(Slots, NumbersRecordsFromZeroAndFindsThem) {
  Slots<Entry> slots;
  EXPECT_TRUE(slots.all_in_use());
  for (std::uint32_t number = 0; number < 3; ++number) {
    Entry& record = slots.take(7);
    EXPECT_EQ(record.number, number);
    EXPECT_EQ(&slots[number], &record);
  }
  EXPECT_EQ(slots.size(), 3u);
}

TEST(Slots, ARecordThatWasGivenBackIsTakenAsItWasMade) {
  Slots<Entry> slots;
  Entry& first = slots.take(1);
  Entry& second = slots.take(2);
  slots.give_back(first.number);
  EXPECT_FALSE(slots.all_in_use());
  EXPECT_EQ(&slots.take(3), &first);
  EXPECT_EQ(first.made_of, 1);
  EXPECT_TRUE(slots.all_in_use());
  EXPECT_EQ(second.number, 1u);
}

TEST(Slots, RecordsStayWhereTheyAreWhileOthersAreMade) {
  Slots<Entry> slots;
  Entry& first = slots.take(0);
  for (int i = 1; i < 1000; ++i) static_cast<void>(slots.take(i));
  EXPECT_EQ(&slots[0], &first);
  EXPECT_EQ(slots.size(), 1000u);
}

TEST(Slots, AllocatesOnlyWhenMoreAreInUseThanEver) {
  Slots<Entry> slots;
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < 100; ++i) numbers.push_back(slots.take(i).number);
  const std::size_t before = allocation_count();
  for (const std::uint32_t number : numbers) slots.give_back(number);
  for (int i = 0; i < 100; ++i) static_cast<void>(slots.take(i));
  EXPECT_EQ(allocation_count(), before);
}

}  // namespace
}  // namespace fab::test
