// Schedules in GOAL: their text, and that the parts of all ranks fit together.
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <sstream>

#include "unit/support/patterns.h"

namespace fab {
namespace {

TEST(Goal, RoundsRequireTheOneBefore) {
  ScheduleBuilder builder("test", 4);
  const auto block = [](std::ptrdiff_t offset, std::size_t bytes) {
    return Block{BufferId::recv, offset, Layout::contiguous(bytes)};
  };
  builder.recv(2, 1, block(0, 16));
  builder.round();
  builder.send(1, 0, block(0, 16));
  builder.send(3, 5, block(0, 0));
  builder.copy(block(0, 16), block(100, 16));
  builder.round();
  builder.recv(3, 0, block(0, 8));
  EXPECT_EQ(builder.commit().to_goal(0, 0.5),
            "rank 0 {\n"
            "l1: recv 16b from 2 tag 1\n"
            "l2: send 16b to 1 tag 0\n"
            "l2 requires l1\n"
            "l3: send 1b to 3 tag 5\n"
            "l3 requires l1\n"
            "l4: calc 8\n"
            "l4 requires l1\n"
            "g1: calc 0\n"
            "g1 requires l2\n"
            "g1 requires l3\n"
            "g1 requires l4\n"
            "l5: recv 8b from 3 tag 0\n"
            "l5 requires g1\n"
            "}\n");
}

// An empty part is more than LogGOPSim can read.
TEST(Goal, NothingToDoTakesNoTime) {
  EXPECT_EQ(ScheduleBuilder("empty", 1).commit().to_goal(7), "rank 7 {\nl1: calc 0\n}\n");
}

// As a simulator reads it: labels are defined before they are required, and every send has its receive.
TEST(Goal, PartsOfAllRanksFitTogether) {
  constexpr int kRanks = 21;
  std::multiset<std::string> sent;
  std::multiset<std::string> received;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    std::istringstream part(test::tree_schedule(rank, kRanks, 3, 100).to_goal(rank));
    std::set<std::string> labels;
    std::string first;
    std::string second;
    std::getline(part, first);
    EXPECT_EQ(first, "rank " + std::to_string(rank) + " {");
    while (part >> first && first != "}") {
      ASSERT_TRUE(part >> second);
      if (second == "requires") {
        std::string required;
        part >> required;
        EXPECT_TRUE(labels.contains(first) && labels.contains(required)) << first << " requires " << required;
        continue;
      }
      EXPECT_TRUE(labels.insert(first.substr(0, first.size() - 1)).second) << first;
      std::string bytes, direction, peer, tag_word, tag;
      if (second == "calc") {
        part >> bytes;
        continue;
      }
      ASSERT_TRUE(part >> bytes >> direction >> peer >> tag_word >> tag);
      const std::string self = std::to_string(rank);
      EXPECT_EQ(direction, second == "send" ? "to" : "from");
      (second == "send" ? sent : received)
          .insert((second == "send" ? self + ">" + peer : peer + ">" + self) + " " + bytes + " " + tag);
    }
    EXPECT_EQ(first, "}");
  }
  EXPECT_EQ(sent.size(), static_cast<std::size_t>(kRanks - 1));
  EXPECT_EQ(sent, received);
}

}  // namespace
}  // namespace fab
