// Tests of a network card's provider against fab's needs: two of its ends in this process, selected by FAB_PROVIDER.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/provider_pair.h"

namespace fab::test {
namespace {

class Card : public testing::Test, protected ProviderPair {
 protected:
  Card() : ProviderPair(open(0), open(1)) {}

  static std::unique_ptr<Provider> open(Rank rank) {
    Config config = read_config();
    config.one_sided = OneSidedMode::on;
    return open_end(config, rank);
  }

  [[nodiscard]] std::vector<std::size_t> telling_sizes() const {
    std::vector<std::size_t> sizes{1, 4096, 16384, 16385, 65536, 262'144, 1 << 20};
    const std::size_t inject = left_->capabilities().inject_bytes;
    for (const std::size_t size : {inject - 1, inject, inject + 1})
      if (inject > 1) sizes.push_back(size);
    return sizes;
  }
};

TEST_F(Card, CarriesMessagesAroundItsLimits) {
  const std::size_t most_pieces = left_->capabilities().iov_limit;
  ASSERT_NO_FATAL_FAILURE(transfer(0, 1, 1));
  for (const std::size_t bytes : telling_sizes()) {
    ASSERT_NO_FATAL_FAILURE(transfer(bytes, 1, 1));
    ASSERT_NO_FATAL_FAILURE(transfer(bytes, most_pieces, 1));
    ASSERT_NO_FATAL_FAILURE(transfer(bytes, 1, most_pieces));
  }
}

TEST_F(Card, TellsOfMessagesThatAreLongerThanTheirReceive) {
  for (const std::size_t bytes : {200u, 300'000u}) {
    SCOPED_TRACE(testing::Message() << bytes << " bytes");
    Bytes sent = pattern(bytes, 3);
    Bytes received(bytes / 2 + kMargin, kUntouched);
    Outcome arrival;
    Outcome departure;
    ASSERT_NO_FATAL_FAILURE(receive(cut(std::span(received).first(bytes / 2), 1), 77, arrival));
    ASSERT_NO_FATAL_FAILURE(send(cut(sent, 1), 77, departure));
    ASSERT_NO_FATAL_FAILURE(poll_until_ended(arrival, departure));
    EXPECT_EQ(arrival.status.errc(), Errc::truncated) << arrival.status.message;
    EXPECT_TRUE(are_untouched(std::span(received).last(kMargin)));
    ASSERT_NO_FATAL_FAILURE(transfer(bytes, 1, 1)) << "a later message";
  }
}

TEST_F(Card, WritesAndTellsTheTargetInOrder) {
  ASSERT_TRUE(left_->capabilities().writes);
  for (const std::size_t bytes : telling_sizes()) {
    const std::size_t pieces = std::min(left_->capabilities().iov_limit, bytes);
    ASSERT_NO_FATAL_FAILURE(write_and_tell(bytes, pieces, 0xffff'0000u ^ static_cast<std::uint32_t>(bytes)));
  }
}

TEST_F(Card, ReportsAWriteWithAWrongKeyAndWhatItSpoils) {
  Bytes sent = pattern(5000, 6);
  Bytes exposed(5000, kUntouched);
  const auto target = right_->expose(exposed);
  const std::vector<iovec> pieces = cut(sent, 1);
  const auto source = left_->prepare_source(pieces);
  RemoteMemory wrong = target->remote();
  wrong.key ^= 0x5a5a;
  Outcome refused;
  ASSERT_NO_FATAL_FAILURE(write(pieces, *source, wrong, 1, refused));
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(refused));
  EXPECT_FALSE(refused.status.ok());
  EXPECT_TRUE(are_untouched(exposed));

  // A card may have given the connection up. What comes next then fails too, but it does end.
  Outcome next;
  ASSERT_NO_FATAL_FAILURE(write(pieces, *source, target->remote(), 2, next));
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(next));
  if (next.status.ok())
    EXPECT_TRUE(exposed == sent);
  else
    EXPECT_FALSE(next.status.message.empty());
}

TEST_F(Card, LosesNothingOfAFloodAtASleepingTarget) {
  constexpr std::uint32_t kWrites = 6000;
  constexpr std::size_t kBytes = 16;
  ASSERT_NO_FATAL_FAILURE(transfer(1, 1, 1)) << "so that they know each other";
  Bytes sent = pattern(kBytes, 8);
  Bytes exposed(kBytes, kUntouched);
  const auto target = right_->expose(exposed);
  const std::vector<iovec> pieces = cut(sent, 1);
  const auto source = left_->prepare_source(pieces);
  std::vector<Outcome> departures(kWrites);
  std::uint32_t posted = 0;
  const auto post_next = [&] {
    const PostResult result =
        left_->post_write(to_right_, pieces, *source, target->remote(), posted, departures[posted]);
    if (result == PostResult::done) departures[posted].ended = true;
    posted += result == PostResult::again ? 0 : 1;
    return result != PostResult::again;
  };
  int refusals = 0;
  while (posted < kWrites && refusals < 1000) {
    refusals = post_next() ? 0 : refusals + 1;
    left_->poll();
  }
  RecordProperty("posted_while_asleep", static_cast<int>(posted));
  ASSERT_NO_FATAL_FAILURE(poll_until([&] {
    while (posted < kWrites && post_next()) {
    }
    return heard_.numbers.size() == kWrites;
  }));
  std::vector<std::uint32_t> expected(kWrites);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_TRUE(heard_.numbers == expected) << "in order, each once";
  ASSERT_NO_FATAL_FAILURE(
      poll_until([&] { return std::ranges::all_of(departures, [](const Outcome& each) { return each.ended; }); }));
  EXPECT_TRUE(std::ranges::all_of(departures, [](const Outcome& each) { return each.status.ok(); }));
}

TEST_F(Card, LosesNothingOfAFloodOfUnexpectedMessages) {
  constexpr std::size_t kMessages = 2000;
  constexpr std::size_t kBytes = 200;
  ASSERT_NO_FATAL_FAILURE(transfer(1, 1, 1)) << "so that they know each other";
  std::vector<Bytes> sent;
  std::vector<Bytes> received(kMessages, Bytes(kBytes, kUntouched));
  for (unsigned i = 0; i < kMessages; ++i) sent.push_back(pattern(kBytes, i));
  std::vector<Outcome> departures(kMessages);
  std::vector<Outcome> arrivals(kMessages);
  std::size_t posted = 0;
  const auto post_next = [&] {
    const PostResult result = left_->post_send(to_right_, cut(sent[posted], 1), 0x9999, departures[posted]);
    if (result == PostResult::done) departures[posted].ended = true;
    posted += result == PostResult::again ? 0 : 1;
    return result != PostResult::again;
  };
  for (int refusals = 0; posted < kMessages && refusals < 1000; left_->poll())
    refusals = post_next() ? 0 : refusals + 1;
  for (std::size_t i = 0; i < kMessages; ++i) {
    ASSERT_NO_FATAL_FAILURE(receive(cut(received[i], 1), 0x9999, arrivals[i]));
    while (posted < kMessages && post_next()) {
    }
  }
  ASSERT_NO_FATAL_FAILURE(poll_until([&] {
    while (posted < kMessages && post_next()) {
    }
    return std::ranges::all_of(arrivals, [](const Outcome& each) { return each.ended; }) &&
           std::ranges::all_of(departures, [](const Outcome& each) { return each.ended; });
  }));
  EXPECT_TRUE(received == sent) << "in order";
}

}  // namespace
}  // namespace fab::test
