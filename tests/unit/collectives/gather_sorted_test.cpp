// All-to-one with individual messages in the order of keys, a thread for each rank.
#include "fab/gather_sorted.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "bindings/native/base/access.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/expect_error.h"
#include "unit/support/turned_clock.h"

namespace fab::test {
namespace {

struct Message {
  std::int64_t key;
  Rank source;
  std::string text;
  bool operator==(const Message&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Message& message) {
  return out << message.key << " of " << message.source << " (" << message.text.size() << " B)";
}

/// Keys that several ranks have, and that are not in the order of ranks; messages without bytes, shorter and longer
/// than a packet, and exactly as long.
Message message_of(Rank rank) {
  constexpr std::size_t kBytes[] = {5, 0, 300, 64, 1, 128, 65};
  return {.key = (rank * 5) % 7 - 3,
          .source = rank,
          .text = std::string(kBytes[rank % 7], static_cast<char>('a' + rank % 26))};
}

std::vector<Message> sorted_messages(int ranks) {
  std::vector<Message> messages;
  for (Rank rank = 0; rank < ranks; ++rank) messages.push_back(message_of(rank));
  std::ranges::stable_sort(messages, {}, &Message::key);
  return messages;
}

/// Puts messages together from their parts.
class Collection {
 public:
  void operator()(const SortedPart& part) {
    if (part.offset == 0) messages_.push_back({part.key, part.source, ""});
    Message& message = messages_.back();
    EXPECT_EQ(message.source, part.source);
    EXPECT_EQ(message.text.size(), part.offset);
    EXPECT_EQ(message_of(part.source).text.size(), part.message_bytes);
    message.text.append(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size());
    longest_ = std::max(longest_, part.bytes.size());
  }
  [[nodiscard]] const std::vector<Message>& messages() const noexcept { return messages_; }
  [[nodiscard]] std::size_t longest() const noexcept { return longest_; }

 private:
  std::vector<Message> messages_;
  std::size_t longest_ = 0;
};

template <class Consume>
void gather_on(const Communicator& communicator, Rank root, Consume&& consume) {
  const Message mine = message_of(communicator.rank());
  gather_sorted(communicator, mine.key, std::as_bytes(std::span(mine.text)), root, consume, 64);
}

template <class Body>
void on_all_ranks(InProcessJob& job, Body body) {
  // Ranks that wait for long ask each other whether they have refused a call, and these questions would be left over.
  for (Rank rank = 0; rank < job.size(); ++rank) job.context(rank).set_clock(TurnedClock::now);
  const auto communicators = job.communicators([](Rank) { return std::nullopt; });
  std::vector<std::thread> threads;
  for (const auto& communicator : communicators)
    threads.emplace_back([&] { body(Access::communicator(communicator)); });
  for (std::thread& thread : threads) thread.join();
}

TEST(GatherSorted, BringsMessagesInTheOrderOfKeys) {
  for (const int ranks : {1, 2, 3, 4, 5, 8, 13}) {
    InProcessJob job(ranks, caller_config(), {.seed = static_cast<std::uint32_t>(ranks)});
    for (const Rank root : {0, ranks - 1}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, root " << root);
      Collection collection;
      on_all_ranks(job, [&](const Communicator& communicator) {
        gather_on(communicator, root, [&](const SortedPart& part) {
          EXPECT_EQ(communicator.rank(), root);
          collection(part);
        });
      });
      EXPECT_EQ(collection.messages(), sorted_messages(ranks));
      EXPECT_LE(collection.longest(), 64u);
    }
    EXPECT_EQ(job.left_over(), 0u);
  }
}

TEST(GatherSorted, WhatIsThrownAtTheRootComesOutThereWhenAllHavePassed) {
  constexpr int kRanks = 6;
  InProcessJob job(kRanks, caller_config(), {});
  int caught = 0;
  int consumed = 0;
  on_all_ranks(job, [&](const Communicator& communicator) {
    try {
      gather_on(communicator, 2, [&](const SortedPart&) {
        ++consumed;
        throw std::runtime_error("enough");
      });
    } catch (const std::runtime_error&) {
      EXPECT_EQ(communicator.rank(), 2);
      ++caught;
    }
  });
  EXPECT_EQ(caught, 1);
  EXPECT_EQ(consumed, 1);
  EXPECT_EQ(job.left_over(), 0u);
}

TEST(GatherSorted, RefusesABadRootAndPacketsOfNoBytes) {
  InProcessJob job(2, caller_config(), {});
  const Communicator communicator = Access::communicator(job.communicators([](Rank) { return std::nullopt; })[0]);
  const auto ignore = [](const SortedPart&) {};
  expect_error(Errc::invalid_rank, {"gather_sorted", "root -1", "0 to 1"},
               [&] { gather_sorted(communicator, 0, {}, -1, ignore); });
  expect_error(Errc::invalid_rank, {"gather_sorted", "root 2", "0 to 1"},
               [&] { gather_sorted(communicator, 0, {}, 2, ignore); });
  expect_error(Errc::invalid_argument, {"gather_sorted", "packets of 0 bytes"},
               [&] { gather_sorted(communicator, 0, {}, 0, ignore, 0); });
}

}  // namespace
}  // namespace fab::test
