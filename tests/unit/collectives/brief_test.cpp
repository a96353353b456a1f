// Briefs of calls with regular lists: what differs has another brief, and what does not fit has none.
#include "collectives/calls/brief.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace fab::collectives {
namespace {

constexpr std::uint64_t kHead = 9u << 24;

class Briefs : public testing::Test {
 protected:
  static BlockList list(const Layout& element, std::size_t elements, std::size_t blocks) {
    return BlockList::regular(element, elements, blocks);
  }

  const Layout int_ = Layout::contiguous(4);
  const Layout double_ = Layout::contiguous(8);
};

TEST_F(Briefs, DifferByEachPartOfACall) {
  const std::vector<core::CallBrief> all = {
      brief_of(kHead, list(int_, 2, 3), list(int_, 2, 3)),    brief_of(kHead | 1, list(int_, 2, 3), list(int_, 2, 3)),
      brief_of(kHead, list(double_, 2, 3), list(int_, 2, 3)), brief_of(kHead, list(int_, 2, 3), list(double_, 2, 3)),
      brief_of(kHead, list(int_, 1, 3), list(int_, 2, 3)),    brief_of(kHead, list(int_, 2, 3), list(int_, 1, 3)),
      brief_of(kHead, list(int_, 2, 4), list(int_, 2, 3)),    brief_of(kHead, list(int_, 2, 3), list(int_, 2, 4)),
      brief_of(kHead, BlockList(), list(int_, 2, 3)),         brief_of(kHead, list(int_, 2, 3), BlockList()),
      brief_of(kHead, list(int_, 2, 3), list(int_, 2, 3), 7),
  };
  std::set<std::array<std::uint64_t, 5>> words;
  for (const core::CallBrief& brief : all) {
    EXPECT_FALSE(brief.empty());
    words.insert(brief.words);
  }
  EXPECT_EQ(words.size(), all.size());
}

TEST_F(Briefs, AreEqualForEqualCalls) {
  EXPECT_EQ(brief_of(kHead, list(int_, 2, 3), list(double_, 1, 3)),
            brief_of(kHead, list(int_, 2, 3), list(double_, 1, 3)));
}

TEST_F(Briefs, AreEmptyForWhatDoesNotFit) {
  const BlockList good = list(int_, 1, 1);
  EXPECT_TRUE(brief_of(kHead, list(int_, std::size_t{1} << 32, 1), good).empty());
  EXPECT_TRUE(brief_of(kHead, good, list(int_, 1, std::size_t{1} << 24)).empty());
  EXPECT_TRUE(brief_of(kHead, good, good, std::uint64_t{1} << 16).empty());
  EXPECT_FALSE(brief_of(kHead, list(int_, (std::size_t{1} << 32) - 1, (1u << 24) - 1), good, 0xffff).empty());
  const std::vector<int> ones = {1, 1};
  EXPECT_TRUE(brief_of(kHead, good, BlockList::irregular(int_, std::span<const int>(ones), std::span<const int>(ones)))
                  .empty());
}

}  // namespace
}  // namespace fab::collectives
