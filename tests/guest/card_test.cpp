// What a network card's provider owes fab: two of its ends in this process, over what FAB_PROVIDER says.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <vector>

#include "core/config.h"
#include "core/log.h"
#include "providers/ofi/ofi_provider.h"
#include "unit/outcome.h"

namespace fab::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::byte kUntouched{0xee};
constexpr std::size_t kMargin = 100;

Bytes pattern(std::size_t bytes, unsigned seed) {
  Bytes data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 7 + i / 251 + seed) & 0xff);
  return data;
}

std::vector<iovec> cut(std::span<std::byte> memory, std::size_t pieces) {
  std::vector<iovec> result;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = memory.size() * i / pieces;
    result.push_back({memory.data() + begin, memory.size() * (i + 1) / pieces - begin});
  }
  return result;
}

struct Heard final : WriteListener {
  void written(std::uint32_t data) noexcept override { numbers.push_back(data); }
  std::vector<std::uint32_t> numbers;
};

class Card : public testing::Test {
 protected:
  Card() : left_(open(0)), right_(open(1)) {
    right_->set_listener(&heard_);
    to_right_ = left_->connect(right_->address());
    from_left_ = right_->connect(left_->address());
  }
  ~Card() override { right_->set_listener(nullptr); }

  std::unique_ptr<Provider> open(Rank rank) const {
    JobInfo job;
    job.rank = rank;
    job.size = job.local_size = 2;
    job.node_ranks = {0, 1};
    Config config = read_config();
    config.one_sided = fab::OneSided::on;
    return std::make_unique<ofi::OfiProvider>(config, job, log_);
  }

  void poll_until(const std::function<bool()>& done, bool target_too = true) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!done()) {
      left_->poll();
      if (target_too) right_->poll();
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nothing comes";
    }
  }

  void send(std::span<const iovec> pieces, std::uint64_t tag, Outcome& departure) {
    PostResult result = PostResult::again;
    poll_until([&] { return (result = left_->post_send(to_right_, pieces, tag, departure)) != PostResult::again; });
    if (result == PostResult::done) departure.ended = true;
  }
  void receive(std::span<const iovec> pieces, std::uint64_t tag, Outcome& arrival) {
    poll_until([&] { return right_->post_recv(from_left_, pieces, tag, 0, arrival) != PostResult::again; });
  }
  void write(std::span<const iovec> pieces, const Registration& source, const RemoteMemory& target, std::uint32_t data,
             Outcome& departure) {
    PostResult result = PostResult::again;
    poll_until([&] {
      return (result = left_->post_write(to_right_, pieces, source, target, data, departure)) != PostResult::again;
    });
    if (result == PostResult::done) departure.ended = true;
  }

  /// One message, cut differently at its two ends.
  void transfer(std::size_t bytes, std::size_t pieces_sent, std::size_t pieces_received) {
    SCOPED_TRACE(testing::Message() << bytes << " bytes, " << pieces_sent << " pieces to " << pieces_received);
    Bytes sent = pattern(bytes, ++tag_ & 0xff);
    Bytes received(bytes + kMargin, kUntouched);
    const std::vector<iovec> from = cut(sent, pieces_sent);
    const std::vector<iovec> to = cut(std::span(received).first(bytes), pieces_received);
    Outcome arrival;
    Outcome departure;
    ASSERT_NO_FATAL_FAILURE(receive(to, tag_, arrival));
    ASSERT_NO_FATAL_FAILURE(send(from, tag_, departure));
    ASSERT_NO_FATAL_FAILURE(poll_until([&] { return arrival.ended && departure.ended; }));
    EXPECT_TRUE(departure.status.ok()) << departure.status.message;
    EXPECT_TRUE(arrival.status.ok()) << arrival.status.message;
    EXPECT_EQ(arrival.bytes, bytes);
    EXPECT_EQ(arrival.tag, tag_);
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));
    EXPECT_EQ(std::count(received.end() - kMargin, received.end(), kUntouched), kMargin);
  }

  [[nodiscard]] std::vector<std::size_t> telling_sizes() const {
    std::vector<std::size_t> sizes{1, 4096, 16384, 16385, 65536, 262'144, 1 << 20};
    const std::size_t inject = left_->capabilities().inject_bytes;
    for (const std::size_t size : {inject - 1, inject, inject + 1})
      if (inject > 1) sizes.push_back(size);
    return sizes;
  }

  Log log_{LogLevel::warn, 0};
  Heard heard_;
  std::unique_ptr<Provider> left_;
  std::unique_ptr<Provider> right_;
  PeerHandle to_right_ = 0;
  PeerHandle from_left_ = 0;
  std::uint64_t tag_ = 0x1000;
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
    ASSERT_NO_FATAL_FAILURE(poll_until([&] { return arrival.ended && departure.ended; }));
    EXPECT_EQ(arrival.status.errc(), Errc::truncated) << arrival.status.message;
    EXPECT_EQ(std::count(received.end() - kMargin, received.end(), kUntouched), kMargin);
    ASSERT_NO_FATAL_FAILURE(transfer(bytes, 1, 1)) << "a later message";
  }
}

TEST_F(Card, WritesAndTellsTheTargetInOrder) {
  ASSERT_TRUE(left_->capabilities().writes);
  for (const std::size_t bytes : telling_sizes()) {
    SCOPED_TRACE(testing::Message() << bytes << " bytes");
    Bytes sent = pattern(bytes, 5);
    Bytes exposed(bytes + 2 * kMargin, kUntouched);
    const auto target = right_->expose(exposed);
    const std::vector<iovec> pieces = cut(sent, std::min(left_->capabilities().iov_limit, bytes));
    const auto source = left_->prepare_source(pieces);
    const std::uint32_t data = 0xffff'0000u ^ static_cast<std::uint32_t>(bytes);
    heard_.numbers.clear();
    Outcome departure;
    ASSERT_NO_FATAL_FAILURE(write(pieces, *source, target->remote().behind(kMargin), data, departure));
    // The bytes are there as soon as the target hears of them.
    ASSERT_NO_FATAL_FAILURE(poll_until([&] { return !heard_.numbers.empty(); }));
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), exposed.begin() + kMargin));
    EXPECT_EQ(heard_.numbers, std::vector<std::uint32_t>{data}) << "all 32 bits of it, once";
    ASSERT_NO_FATAL_FAILURE(poll_until([&] { return departure.ended; }));
    EXPECT_TRUE(departure.status.ok()) << departure.status.message;
    EXPECT_EQ(std::count(exposed.begin(), exposed.begin() + kMargin, kUntouched), kMargin);
    EXPECT_EQ(std::count(exposed.end() - kMargin, exposed.end(), kUntouched), kMargin);
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
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return refused.ended; }));
  EXPECT_FALSE(refused.status.ok());
  EXPECT_EQ(std::count(exposed.begin(), exposed.end(), kUntouched), 5000);

  // A card may have given the connection up. What comes next then fails too, but it does end.
  Outcome next;
  ASSERT_NO_FATAL_FAILURE(write(pieces, *source, target->remote(), 2, next));
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return next.ended; }));
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
