// Messages that the program writes anew between their posts, which go through the ring.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "providers/local/thresholds.h"
#include "unit/support/local_ends.h"

namespace fab::test {
namespace {

using Counts = std::map<std::string, std::uint64_t>;

class RewrittenMessages : public LocalEnds {
 protected:
  static constexpr std::size_t kLongestInRing = local::longest_copied(LocalLong::automatic);

  /// The ways of as many posts of the message, each received. Ahead of each post `change` is called.
  Counts ways_of_posts(Message& message, int posts, const std::function<void()>& change) {
    const Counts before = sent();
    for (int post = 0; post < posts; ++post) {
      change();
      deliver(message);
    }
    Counts ways = sent();
    for (const auto& [way, messages] : before) ways[way] -= messages;
    std::erase_if(ways, [](const auto& each) { return each.second == 0; });
    return ways;
  }
  void deliver(Message& message) {
    std::deque<Message> received;
    receive(received.emplace_back(std::vector<std::byte>(message.memory.size())), ++tag_);
    send(message, tag_);
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(received));
    for (int turn = 0; turn < 1000 && !message.outcome.ended; ++turn) poll();
    ASSERT_TRUE(message.outcome.ended);
    message.outcome.ended = false;
    ASSERT_TRUE(std::ranges::equal(received.front().memory, message.memory));
  }
  [[nodiscard]] Counts sent() const {
    Counts counts;
    left_.visit_ways(to_right_, [&](std::string_view way, std::uint64_t messages, std::uint64_t) {
      counts[std::string(way)] += messages;
    });
    return counts;
  }
  static void add_one(Message& message) {
    for (std::byte& each : message.memory) each = static_cast<std::byte>(std::to_integer<int>(each) + 1);
  }
  [[nodiscard]] static const char* announced() { return GetParam().mapped ? "mapped" : "kernel"; }
  [[nodiscard]] static std::size_t longest() {
    const local::LongestRewritten longest = local::longest_rewritten(GetParam().wanted);
    return GetParam().mapped ? longest.mapped : longest.read;
  }

 private:
  std::uint64_t tag_ = 0;
};

TEST_P(RewrittenMessages, AreCopiedFromTheFirstChangeOn) {
  for (const std::size_t bytes : {kLongestInRing + 1, longest()}) {
    Message message(periodic_bytes(bytes, 1));
    EXPECT_EQ(ways_of_posts(message, 1, [] {}), (Counts{{announced(), 1}}));
    EXPECT_EQ(ways_of_posts(message, 5, [&] { add_one(message); }), (Counts{{"ring", 5}}));
  }
}

TEST_P(RewrittenMessages, AreReadAgainWhenTheyStayTheSame) {
  Message message(periodic_bytes(longest(), 2));
  EXPECT_EQ(ways_of_posts(message, 20, [] {}), (Counts{{announced(), 20}}));
  EXPECT_EQ(ways_of_posts(message, 1, [&] { add_one(message); }), (Counts{{"ring", 1}}));
  EXPECT_EQ(ways_of_posts(message, 20, [] {}), (Counts{{"ring", 15}, {announced(), 5}}));
  EXPECT_EQ(ways_of_posts(message, 1, [&] { add_one(message); }), (Counts{{"ring", 1}}));
}

TEST_P(RewrittenMessages, LongerOnesAreNot) {
  Message message(periodic_bytes(longest() + 1, 3));
  EXPECT_EQ(ways_of_posts(message, 5, [&] { add_one(message); }), (Counts{{announced(), 5}}));
}

TEST_P(RewrittenMessages, EachPlaceHasItsOwnHistory) {
  Message changing(periodic_bytes(longest(), 4));
  Message constant(periodic_bytes(longest(), 5));
  Counts of_constant;
  for (int turn = 0; turn < 5; ++turn) {
    (void)ways_of_posts(changing, 1, [&] { add_one(changing); });
    for (const auto& [way, messages] : ways_of_posts(constant, 1, [] {})) of_constant[way] += messages;
  }
  EXPECT_EQ(of_constant, (Counts{{announced(), 5}}));
}

TEST_P(RewrittenMessages, OneWithoutRoomInTheRingIsAnnounced) {
  const std::size_t bytes = longest();
  const std::uint64_t room = local::Ring::kBulkBytes / bytes;
  Message message(periodic_bytes(bytes, 6));
  (void)ways_of_posts(message, 1, [] {});
  add_one(message);
  const iovec piece{message.memory.data(), message.memory.size()};
  PostResult last = PostResult::done;
  for (std::uint64_t post = 0; post <= room && last == PostResult::done; ++post)
    last = left_.post_send(to_right_, {&piece, 1}, 1000 + post, message.outcome);
  EXPECT_EQ(last, PostResult::pending) << "neither refused nor copied";
  EXPECT_GE(sent()["ring"], 2u);
  EXPECT_EQ(sent()[announced()], 2u);
  std::deque<Message> received;
  for (std::uint64_t post = 0; post < sent()["ring"] + 1; ++post)
    receive(received.emplace_back(std::vector<std::byte>(bytes)), 1000 + post);
  ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(received));
  for (const Message& each : received) EXPECT_TRUE(std::ranges::equal(each.memory, message.memory));
}

constexpr Way kRewrittenWays[] = {{"read", LocalLong::automatic}, {"mapped", LocalLong::automatic, false, true}};
INSTANTIATE_TEST_SUITE_P(Ways, RewrittenMessages, testing::ValuesIn(kRewrittenWays), name_of);

/// The program wants the kernel's copy.
using ReadMessages = RewrittenMessages;
TEST_P(ReadMessages, AreNeverCopied) {
  Message message(periodic_bytes(kLongestInRing + 1, 7));
  EXPECT_EQ(ways_of_posts(message, 5, [&] { add_one(message); }), (Counts{{"kernel", 5}}));
}
constexpr Way kForcedWays[] = {{"read", LocalLong::read}};
INSTANTIATE_TEST_SUITE_P(Ways, ReadMessages, testing::ValuesIn(kForcedWays), name_of);

}  // namespace
}  // namespace fab::test
