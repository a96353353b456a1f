// fab's libfabric provider over each profile: two ends in this process.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "support/provider_pair.h"

namespace fab::test {
namespace {

class Conformance : public testing::Test, protected ProviderPair {
 protected:
  Conformance() : ProviderPair(open(0), open(1)) {}

  static std::unique_ptr<Provider> open(Rank rank) {
    Config config;
    config.provider = "strict";
    config.one_sided = OneSidedMode::on;
    return open_end(config, rank);
  }
};

TEST_F(Conformance, MessagesOfAllSizesInPieces) {
  const std::size_t most_pieces = left_->capabilities().iov_limit;
  for (const std::size_t bytes : {0u, 1u, 32u, 33u, 64u, 192u, 193u, 4096u, 16384u, 16385u, 300'000u})
    for (std::size_t pieces = 1; pieces <= most_pieces; ++pieces)
      for (const First first : {First::receive, First::send})
        ASSERT_NO_FATAL_FAILURE(transfer(bytes, pieces, most_pieces + 1 - pieces, first));
}

// The peer's longest message is in its address.
TEST_F(Conformance, BothEndsCutByTheShorterOfTheirLongestMessages) {
  const auto lowered = [](const std::string& address) {
    std::size_t begin = 0;
    for (int parts = 0; parts < 3; ++parts) begin = address.find('\n', begin) + 1;
    return std::string(address).replace(begin, address.find('\n', begin) - begin, "40000");
  };
  to_right_ = left_->connect(lowered(right_->address()));
  from_left_ = right_->connect(lowered(left_->address()));
  Bytes sent = pattern(200'001, 1);
  Bytes received(sent.size());
  Outcome departure;
  Outcome arrival;
  ASSERT_NO_FATAL_FAILURE(send(cut(sent, 1), 3, departure));
  ASSERT_NO_FATAL_FAILURE(receive(cut(received, 1), 3, arrival));
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(departure, arrival));
  EXPECT_EQ(arrival.bytes, sent.size());
  EXPECT_TRUE(received == sent);
}

TEST_F(Conformance, LongReceivesCanBeTakenBack) {
  Bytes memory(300'000);
  Outcome taken_back;
  ASSERT_NO_FATAL_FAILURE(receive(cut(memory, 1), 5, taken_back));
  right_->cancel(taken_back);
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(taken_back));
  EXPECT_EQ(taken_back.status.errc(), Errc::cancelled) << taken_back.status.message;
}

// They are posted all at once, and a provider that orders nothing lets them go in any order.
TEST_F(Conformance, MessagesOfOneTagKeepTheirOrder) {
  constexpr std::size_t kMessages = 60;
  std::vector<Bytes> sent;
  std::vector<Bytes> received;
  std::deque<Outcome> departures(kMessages);
  std::deque<Outcome> arrivals(kMessages);
  for (std::size_t i = 0; i < kMessages; ++i) {
    sent.push_back(pattern(i % 3 == 0 ? 40'000 : 100, i));
    received.emplace_back(40'000);
  }
  for (std::size_t i = 0; i < kMessages; ++i) {
    ASSERT_NO_FATAL_FAILURE(send(cut(sent[i], 1), 7, departures[i]));
    if (i % 2 == 0) continue;
    ASSERT_NO_FATAL_FAILURE(receive(cut(received[i / 2], 1), 7, arrivals[i / 2]));
  }
  for (std::size_t i = kMessages / 2; i < kMessages; ++i)
    ASSERT_NO_FATAL_FAILURE(receive(cut(received[i], 1), 7, arrivals[i]));
  const auto ended = [](const Outcome& outcome) { return outcome.ended; };
  ASSERT_NO_FATAL_FAILURE(
      poll_until([&] { return std::ranges::all_of(departures, ended) && std::ranges::all_of(arrivals, ended); }));
  for (std::size_t i = 0; i < kMessages; ++i) {
    EXPECT_EQ(arrivals[i].bytes, sent[i].size()) << "message " << i;
    EXPECT_TRUE(std::equal(sent[i].begin(), sent[i].end(), received[i].begin())) << "message " << i;
  }
}

TEST_F(Conformance, WhatIsIgnoredMayBeAllBits) {
  Bytes sent = pattern(100, 3);
  Bytes received(100);
  Outcome departure;
  Outcome arrival;
  ASSERT_NO_FATAL_FAILURE(receive(cut(received, 1), 0, arrival, ~0ull));
  ASSERT_NO_FATAL_FAILURE(send(cut(sent, 1), 0x123'4567, departure));
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(departure, arrival));
  EXPECT_EQ(arrival.tag, 0x123'4567u);
  EXPECT_TRUE(received == sent);
}

TEST_F(Conformance, LongerMessagesAreTruncated) {
  Bytes sent = pattern(50'000, 3);
  Bytes received(30'000, kUntouched);
  Outcome departure;
  Outcome arrival;
  ASSERT_NO_FATAL_FAILURE(receive(cut(std::span(received).first(20'000), 1), 9, arrival));
  ASSERT_NO_FATAL_FAILURE(send(cut(sent, 1), 9, departure));
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(departure, arrival));
  EXPECT_EQ(arrival.status.errc(), Errc::truncated);
  EXPECT_THAT(arrival.status.message, testing::HasSubstr("a message of 50000 bytes arrived"));
  EXPECT_TRUE(are_untouched(std::span(received).subspan(20'000)));
}

TEST_F(Conformance, ReceivesCanBeTakenBack) {
  Bytes memory(100);
  Outcome taken_back;
  ASSERT_NO_FATAL_FAILURE(receive(cut(memory, 1), 5, taken_back));
  right_->cancel(taken_back);
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(taken_back));
  EXPECT_EQ(taken_back.status.errc(), Errc::cancelled) << taken_back.status.message;
}

TEST_F(Conformance, ProvidersEndWithReceivesInFlight) {
  Bytes memory(100);
  std::deque<Outcome> never(10);
  for (Outcome& outcome : never) ASSERT_NO_FATAL_FAILURE(receive(cut(memory, 1), 5, outcome));
  right_.reset();
  for (const Outcome& outcome : never) EXPECT_FALSE(outcome.ended) << "an operation that is over is not reported";
}

TEST_F(Conformance, WritesAreUsedExactlyWhereTheyCarryData) {
  const std::string profile = std::getenv("FI_STRICT_PROFILE");
  EXPECT_EQ(left_->capabilities().writes, profile != "bare");
}

TEST_F(Conformance, WritesIntoAPeersMemoryAndTellsIt) {
  if (!left_->capabilities().writes) GTEST_SKIP() << "the profile has no writes";
  write_and_tell(1000, 1, 0x8000'0007u);
}

// One notice for all parts, when all are there.
TEST_F(Conformance, WritesMoreThanTheLongestMessage) {
  if (!left_->capabilities().writes) GTEST_SKIP() << "the profile has no writes";
  write_and_tell(500'000, left_->capabilities().iov_limit, 7);
}

TEST_F(Conformance, WritesToMemoryThatIsNotExposedFail) {
  if (!left_->capabilities().writes) GTEST_SKIP() << "the profile has no writes";
  Bytes written = pattern(1000, 5);
  const std::vector<iovec> pieces = cut(written, 1);
  const auto source = left_->prepare_source(pieces);
  Bytes exposed(1200, kUntouched);
  const auto target = right_->expose(exposed);
  RemoteMemory elsewhere = target->remote();
  elsewhere.key ^= 1;
  Outcome wrong_key;
  ASSERT_NO_FATAL_FAILURE(write(pieces, *source, elsewhere, 1, wrong_key));
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(wrong_key));
  EXPECT_EQ(wrong_key.status.errc(), Errc::transport);
  Outcome beyond;
  ASSERT_NO_FATAL_FAILURE(write(pieces, *source, target->remote().behind(201), 1, beyond));
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(beyond));
  EXPECT_EQ(beyond.status.errc(), Errc::transport);
  EXPECT_TRUE(are_untouched(exposed));
}

// Of the profile `open`, which leaves too little to guess.
TEST(WeakProvider, IsRefused) {
  Config config;
  config.provider = "strict";
  try {
    static_cast<void>(open_end(config, 0));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::unreachable);
    EXPECT_THAT(error.what(), testing::HasSubstr("strict on "));
    EXPECT_THAT(error.what(), testing::HasSubstr("a stranger would have to guess only 62 bits to forge a message; at "
                                                 "least 64 are required"));
  }
}

}  // namespace
}  // namespace fab::test
