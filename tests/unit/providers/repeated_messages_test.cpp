// Messages that are posted again and again: their way depends on whether the program changes them meanwhile.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "providers/local/thresholds.h"
#include "unit/support/local_ends.h"

namespace fab::test {
namespace {

using Counts = std::map<std::string, std::uint64_t>;

class RepeatedMessages : public LocalEnds {
 protected:
  void SetUp() override { left_.caller_waits()->store(true); }

  static constexpr int kConstant = local::MessageHistory::kConstant;
  static constexpr int kPostsOfALook = local::MessageHistory::kPostsOfALook;

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
    post(message, tag_);
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(received));
    for (int turn = 0; turn < 1000 && !message.outcome.ended; ++turn) poll();
    ASSERT_TRUE(message.outcome.ended);
    message.outcome.ended = false;
    ASSERT_TRUE(std::ranges::equal(received.front().memory, message.memory));
  }
  /// It changes from now on.
  void expect_copies_soon(Message& message) {
    (void)ways_of_posts(message, kPostsOfALook, [&] { add_one(message); });
    EXPECT_EQ(ways_of_posts(message, 9, [&] { add_one(message); }), (Counts{{copied(message), 9}}));
  }
  /// It stays the same from now on.
  void expect_announced_later(Message& message) {
    EXPECT_EQ(ways_of_posts(message, kConstant - 1, [] {}), (Counts{{copied(message), kConstant - 1}}));
    (void)ways_of_posts(message, kPostsOfALook + 1, [] {});
    EXPECT_EQ(ways_of_posts(message, 9, [] {}), (Counts{{announced(), 9}}));
  }
  PostResult post_once(Message& message, std::uint64_t tag) {
    const iovec piece{message.memory.data(), message.memory.size()};
    return left_.post_repeated(to_right_, {&piece, 1}, tag, message.outcome);
  }
  /// The provider tells the way beforehand.
  void post(Message& message, std::uint64_t tag) {
    const iovec piece{message.memory.data(), message.memory.size()};
    const std::string way(left_.way_of_repeated(to_right_, {&piece, 1}));
    const std::uint64_t before = sent()[way];
    PostResult result = PostResult::again;
    while ((result = post_once(message, tag)) == PostResult::again) poll();
    EXPECT_EQ(sent()[way], before + 1) << way;  // its receiver may choose another one
    if (result == PostResult::done) message.outcome.ended = true;
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
  [[nodiscard]] static const char* announced() {
    return GetParam().mapped ? "mapped" : GetParam().forbidden ? "chunks" : "kernel";
  }
  /// What the sender copies is copied whole if a ring has room for two of them.
  [[nodiscard]] static const char* copied(const Message& message) {
    return message.memory.size() > kMostCopiedWhole ? "chunks" : "ring";
  }
  [[nodiscard]] static LongestCopied longest() {
    return GetParam().mapped ? local::longest_copied_of_mapped(GetParam().wanted)
                             : local::longest_copied(GetParam().wanted);
  }

 private:
  std::uint64_t tag_ = 0;
};

const std::function<void()> kNoChange = [] {};

TEST_P(RepeatedMessages, LongOnesAreCopiedFromTheFirstChangeOn) {
  for (const std::size_t bytes : {longest().unknown + 1, kMostCopiedWhole, kMostCopiedWhole + 1, longest().changing}) {
    Message message(periodic_bytes(bytes, 1));
    EXPECT_EQ(ways_of_posts(message, 1, kNoChange), (Counts{{announced(), 1}}));
    EXPECT_EQ(ways_of_posts(message, 5, [&] { add_one(message); }), (Counts{{copied(message), 5}}));
  }
}

TEST_P(RepeatedMessages, LongOnesAreReadAgainWhenTheyStayTheSame) {
  Message message(periodic_bytes(longest().changing, 2));
  EXPECT_EQ(ways_of_posts(message, kConstant + 5, kNoChange), (Counts{{announced(), kConstant + 5}}));
  expect_copies_soon(message);
  expect_announced_later(message);
  expect_copies_soon(message);
}

TEST_P(RepeatedMessages, ShorterOnesAreReadOnceTheyAreKnownToStayTheSame) {
  for (const std::size_t bytes : {longest().constant + 1, longest().unknown}) {
    Message message(periodic_bytes(bytes, 3));
    EXPECT_EQ(ways_of_posts(message, kConstant + 5, kNoChange), (Counts{{"ring", kConstant}, {announced(), 5}}));
    expect_copies_soon(message);
    expect_announced_later(message);
  }
}

TEST_P(RepeatedMessages, TheLongestAreAnnouncedAndTheShortestCopied) {
  Message longer(periodic_bytes(longest().changing + 1, 4));
  EXPECT_EQ(ways_of_posts(longer, 5, [&] { add_one(longer); }), (Counts{{announced(), 5}}));
  Message shorter(periodic_bytes(longest().constant, 5));
  EXPECT_EQ(ways_of_posts(shorter, kConstant + 5, kNoChange), (Counts{{"ring", kConstant + 5}}));
}

TEST_P(RepeatedMessages, EachPlaceHasItsOwnHistory) {
  Message changing(periodic_bytes(longest().changing, 6));
  Message constant(periodic_bytes(longest().changing, 7));
  Counts of_constant;
  for (int turn = 0; turn < 5; ++turn) {
    (void)ways_of_posts(changing, 1, [&] { add_one(changing); });
    for (const auto& [way, messages] : ways_of_posts(constant, 1, kNoChange)) of_constant[way] += messages;
  }
  EXPECT_EQ(of_constant, (Counts{{announced(), 5}}));
}

TEST_P(RepeatedMessages, OneWithoutRoomInTheRingIsAnnounced) {
  const std::size_t bytes = kMostCopiedWhole;
  Message message(periodic_bytes(bytes, 8));
  (void)ways_of_posts(message, 1, kNoChange);
  add_one(message);
  PostResult last = PostResult::done;
  std::uint64_t copied = 0;
  for (; copied <= local::Ring::kBulkBytes / bytes; ++copied)
    if ((last = post_once(message, 1000 + copied)) != PostResult::done) break;
  EXPECT_EQ(last, PostResult::pending) << "neither refused nor copied";
  EXPECT_GE(copied, 2u);
  EXPECT_EQ(sent()["ring"], copied);
  std::deque<Message> received;
  for (std::uint64_t post = 0; post <= copied; ++post)
    receive(received.emplace_back(std::vector<std::byte>(bytes)), 1000 + post);
  ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(received));
  for (const Message& each : received) EXPECT_TRUE(std::ranges::equal(each.memory, message.memory));
}

// The receiver asks for the bytes, and does not look where they lie.
TEST_P(RepeatedMessages, OneInChunksMayBeLongerThanItsReceiveOrTakenBack) {
  Message message(periodic_bytes(longest().changing, 14));
  (void)ways_of_posts(message, 1, kNoChange);
  (void)ways_of_posts(message, 1, [&] { add_one(message); });
  add_one(message);
  ASSERT_EQ(post_once(message, 2000), PostResult::pending);
  std::deque<Message> received;
  receive(received.emplace_back(std::vector<std::byte>(1000)), 2000);
  ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(received));
  EXPECT_TRUE(std::ranges::equal(received.front().memory, std::span(message.memory).first(1000)));
  for (int turn = 0; turn < 1000 && !message.outcome.ended; ++turn) poll();
  ASSERT_TRUE(message.outcome.ended);
  message.outcome.ended = false;

  add_one(message);
  ASSERT_EQ(post_once(message, 2001), PostResult::pending);
  EXPECT_TRUE(left_.take_back(message.outcome));
  EXPECT_EQ(message.outcome.status.errc(), Errc::cancelled);
  message.outcome.ended = false;
  EXPECT_EQ(ways_of_posts(message, 3, [&] { add_one(message); }), (Counts{{copied(message), 3}}));
}

// It would have to poll for them.
TEST_P(RepeatedMessages, OneWhoseSenderDoesNotWaitIsNotAskedForInChunks) {
  left_.caller_waits()->store(false);
  Message message(periodic_bytes(longest().changing, 15));
  EXPECT_EQ(ways_of_posts(message, 5, [&] { add_one(message); }), (Counts{{announced(), 5}}));
  left_.caller_waits()->store(true);
  EXPECT_EQ(ways_of_posts(message, 5, [&] { add_one(message); }), (Counts{{"chunks", 5}}));
}

TEST_P(RepeatedMessages, PiecesMayBeShortAndEmpty) {
  Message message(periodic_bytes(longest().changing, 13));
  iovec pieces[] = {{message.memory.data(), 3}, {nullptr, 0}, {message.memory.data() + 3, message.memory.size() - 3}};
  local::MessageHistory history;
  EXPECT_EQ(history.look(pieces, message.memory.size()), local::Change::unknown);
  message.memory[1] ^= std::byte{1};
  EXPECT_EQ(history.foresee(pieces, message.memory.size()), local::Change::changing);
  EXPECT_EQ(history.look(pieces, message.memory.size()), local::Change::changing);
  message.memory.back() ^= std::byte{1};
  EXPECT_EQ(history.look(pieces, message.memory.size()), local::Change::changing);
}

TEST_P(RepeatedMessages, OthersKnowNoHistory) {
  Message message(periodic_bytes(longest().changing, 9));
  EXPECT_EQ(ways_of_posts(message, 2, [&] { add_one(message); }), (Counts{{announced(), 1}, {copied(message), 1}}));
  std::deque<Message> received;
  receive(received.emplace_back(std::vector<std::byte>(message.memory.size())), 1000);
  const std::uint64_t before = sent()[announced()];
  send(message, 1000);
  ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(received));
  EXPECT_EQ(sent()[announced()], before + 1) << "post_send may have to leave the message with its sender";
}

constexpr Way kRepeatedWays[] = {{"read", LocalLong::automatic}, {"mapped", LocalLong::automatic, false, true}};
INSTANTIATE_TEST_SUITE_P(Ways, RepeatedMessages, testing::ValuesIn(kRepeatedWays), name_of);

/// Where the kernel forbids to read other processes' memory, and where the user wants one way.
class MessagesOfOneWay : public RepeatedMessages {};

TEST_P(MessagesOfOneWay, HaveNoHistory) {
  as_the_way_says(GetParam(), [this] {
    Message first(periodic_bytes(longest().unknown + 1, 10));
    EXPECT_EQ(ways_of_posts(first, 1, kNoChange), (Counts{{announced(), 1}}));
    Message changing(periodic_bytes(longest().unknown + 1, 11));
    EXPECT_EQ(ways_of_posts(changing, 5, [&] { add_one(changing); }), (Counts{{announced(), 5}}));
    Message constant(periodic_bytes(longest().unknown, 12));
    EXPECT_EQ(ways_of_posts(constant, kConstant + 5, kNoChange).count(announced()), 0u);
  });
}

constexpr Way kOneWay[] = {
    {"read", LocalLong::read}, {"map", LocalLong::map, false, true}, {"forbidden", LocalLong::automatic, true}};
INSTANTIATE_TEST_SUITE_P(Ways, MessagesOfOneWay, testing::ValuesIn(kOneWay), name_of);

}  // namespace
}  // namespace fab::test
