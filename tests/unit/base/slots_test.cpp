// The pool of records with numbers.
#include "core/base/slots.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unit/support/allocation_count.h"

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
  slots.give_back(first);
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
  std::vector<Entry*> entries;
  for (int i = 0; i < 100; ++i) entries.push_back(&slots.take(i));
  const std::size_t before = allocation_count();
  for (Entry* const entry : entries) slots.give_back(*entry);
  for (int i = 0; i < 100; ++i) static_cast<void>(slots.take(i));
  EXPECT_EQ(allocation_count(), before);
}

TEST(Slots, TellsWhetherAllOrNoneAreInUse) {
  Slots<Entry> slots;
  EXPECT_TRUE(slots.none_in_use());
  Entry& first = slots.take(0);
  Entry& second = slots.take(0);
  EXPECT_FALSE(slots.none_in_use());
  slots.give_back(first);
  EXPECT_FALSE(slots.none_in_use());
  EXPECT_FALSE(slots.all_in_use());
  slots.give_back(second);
  EXPECT_TRUE(slots.none_in_use());
}

TEST(Slots, ARecordWithoutANumberIsMadeOfWhatItIsGiven) {
  struct Unnumbered {
    explicit Unnumbered(const char* its_name) : name(its_name) {}
    const char* name;
  };
  Slots<Unnumbered> slots;
  EXPECT_STREQ(slots.take("first").name, "first");
  EXPECT_STREQ(slots[0].name, "first");
}

TEST(Slots, AreAsBeforeWhenARecordCannotBeMade) {
  struct Unmakable {
    explicit Unmakable(bool fails) {
      if (fails) throw 1;
    }
  };
  Slots<Unmakable> slots;
  Unmakable& first = slots.take(false);
  EXPECT_ANY_THROW(static_cast<void>(slots.take(true)));
  EXPECT_EQ(slots.size(), 1u);
  slots.give_back(first);
  EXPECT_EQ(&slots.take(true), &first);
}

}  // namespace
}  // namespace fab::test
