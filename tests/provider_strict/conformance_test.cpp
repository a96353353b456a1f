// fab's libfabric provider over each profile: two ends in this process.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/log.h"
#include "providers/ofi/ofi_provider.h"
#include "unit/outcome.h"

namespace fab::test {
namespace {

std::vector<std::byte> bytes_from(unsigned seed, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + seed);
  return bytes;
}

std::vector<iovec> cut(std::vector<std::byte>& memory, std::size_t pieces) {
  std::vector<iovec> result;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= pieces; ++i) {
    const std::size_t end = memory.size() * i / pieces;
    result.push_back({memory.data() + begin, end - begin});
    begin = end;
  }
  return result;
}

struct Heard final : WriteListener {
  void written(std::uint32_t data) noexcept override { numbers.push_back(data); }
  std::vector<std::uint32_t> numbers;
};

class Conformance : public testing::Test {
 protected:
  Conformance() : left_(make(0)), right_(make(1)) { connect(left_->address(), right_->address()); }

  void connect(const std::string& to_left, const std::string& to_right) {
    to_right_ = left_->connect(to_right);
    from_left_ = right_->connect(to_left);
  }

  void poll_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      left_->poll();
      right_->poll();
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nothing comes";
    }
  }
  /// Repeats what is refused for now.
  void post(const std::function<PostResult()>& attempt) {
    PostResult result = PostResult::again;
    poll_until([&] { return (result = attempt()) != PostResult::again; });
    ASSERT_EQ(result, PostResult::pending);
  }
  void send(std::vector<iovec> pieces, std::uint64_t tag, Outcome& outcome) {
    post([&] { return left_->post_send(to_right_, pieces, tag, outcome); });
  }
  void receive(std::vector<iovec> pieces, std::uint64_t tag, Outcome& outcome, std::uint64_t ignore = 0) {
    post([&] { return right_->post_recv(from_left_, pieces, tag, ignore, outcome); });
  }
  /// Writes what is to be written behind a key.
  void write(const RemoteMemory& target, std::uint32_t data, Outcome& outcome) {
    std::vector<iovec> pieces = cut(written_, 1);
    source_ = left_->prepare_source(pieces);
    post([&] { return left_->post_write(to_right_, pieces, *source_, target, data, outcome); });
    poll_until([&] { return outcome.ended; });
  }

  static std::unique_ptr<Provider> make(Rank rank) {
    static const Log log(LogLevel::warn, 0);
    JobInfo job;
    job.rank = rank;
    job.size = job.local_size = 2;
    job.node_ranks = {0, 1};
    Config config;
    config.provider = "strict";
    config.one_sided = OneSided::on;
    return std::make_unique<ofi::OfiProvider>(config, job, log);
  }

  std::vector<std::byte> written_ = bytes_from(5, 1000);
  std::unique_ptr<Provider> left_;
  std::unique_ptr<Provider> right_;
  std::unique_ptr<Registration> source_;
  PeerHandle to_right_ = 0;
  PeerHandle from_left_ = 0;
};

TEST_F(Conformance, MessagesOfAllSizesInPieces) {
  std::uint64_t tag = 0x1234;
  for (const std::size_t bytes : {0u, 1u, 32u, 33u, 64u, 192u, 193u, 4096u, 16384u, 16385u, 300'000u})
    for (std::size_t pieces = 1; pieces <= left_->capabilities().iov_limit; ++pieces)
      for (const bool early : {false, true}) {
        SCOPED_TRACE(testing::Message() << bytes << " bytes in " << pieces << " pieces, sent early: " << early);
        std::vector<std::byte> sent = bytes_from(static_cast<unsigned>(pieces), bytes);
        std::vector<std::byte> received(bytes);
        Outcome departure;
        Outcome arrival;
        ++tag;
        if (early) {
          ASSERT_NO_FATAL_FAILURE(send(cut(sent, pieces), tag, departure));
        }
        ASSERT_NO_FATAL_FAILURE(receive(cut(received, left_->capabilities().iov_limit + 1 - pieces), tag, arrival));
        if (!early) {
          ASSERT_NO_FATAL_FAILURE(send(cut(sent, pieces), tag, departure));
        }
        ASSERT_NO_FATAL_FAILURE(poll_until([&] { return departure.ended && arrival.ended; }));
        EXPECT_TRUE(departure.status.ok()) << departure.status.message;
        EXPECT_TRUE(arrival.status.ok()) << arrival.status.message;
        EXPECT_EQ(arrival.bytes, bytes);
        EXPECT_EQ(arrival.tag, tag);
        EXPECT_TRUE(received == sent);
      }
}

// The peer's longest message is in its address.
TEST_F(Conformance, BothEndsCutByTheShorterOfTheirLongestMessages) {
  const auto lowered = [](const std::string& address) {
    std::size_t begin = 0;
    for (int parts = 0; parts < 3; ++parts) begin = address.find('\n', begin) + 1;
    return std::string(address).replace(begin, address.find('\n', begin) - begin, "40000");
  };
  connect(lowered(left_->address()), lowered(right_->address()));
  std::vector<std::byte> sent = bytes_from(1, 200'001);
  std::vector<std::byte> received(sent.size());
  Outcome departure;
  Outcome arrival;
  ASSERT_NO_FATAL_FAILURE(send(cut(sent, 1), 3, departure));
  ASSERT_NO_FATAL_FAILURE(receive(cut(received, 1), 3, arrival));
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return departure.ended && arrival.ended; }));
  EXPECT_EQ(arrival.bytes, sent.size());
  EXPECT_TRUE(received == sent);
}

TEST_F(Conformance, LongReceivesCanBeTakenBack) {
  std::vector<std::byte> memory(300'000);
  Outcome taken_back;
  ASSERT_NO_FATAL_FAILURE(receive(cut(memory, 1), 5, taken_back));
  right_->cancel(taken_back);
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return taken_back.ended; }));
  EXPECT_EQ(taken_back.status.errc(), Errc::cancelled) << taken_back.status.message;
}

// They are posted all at once, and a provider that orders nothing lets them go in any order.
TEST_F(Conformance, MessagesOfOneTagKeepTheirOrder) {
  constexpr std::size_t kMessages = 60;
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received;
  std::deque<Outcome> departures(kMessages);
  std::deque<Outcome> arrivals(kMessages);
  for (std::size_t i = 0; i < kMessages; ++i) {
    sent.push_back(bytes_from(static_cast<unsigned>(i), i % 3 == 0 ? 40'000 : 100));
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
  std::vector<std::byte> sent = bytes_from(3, 100);
  std::vector<std::byte> received(100);
  Outcome departure;
  Outcome arrival;
  ASSERT_NO_FATAL_FAILURE(receive(cut(received, 1), 0, arrival, ~0ull));
  ASSERT_NO_FATAL_FAILURE(send(cut(sent, 1), 0x123'4567, departure));
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return departure.ended && arrival.ended; }));
  EXPECT_EQ(arrival.tag, 0x123'4567u);
  EXPECT_TRUE(received == sent);
}

TEST_F(Conformance, LongerMessagesAreTruncated) {
  std::vector<std::byte> sent = bytes_from(3, 50'000);
  std::vector<std::byte> received(30'000);
  Outcome departure;
  Outcome arrival;
  ASSERT_NO_FATAL_FAILURE(receive({{received.data(), 20'000}}, 9, arrival));
  ASSERT_NO_FATAL_FAILURE(send(cut(sent, 1), 9, departure));
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return departure.ended && arrival.ended; }));
  EXPECT_EQ(arrival.status.errc(), Errc::truncated);
  EXPECT_THAT(arrival.status.message, testing::HasSubstr("a message of 50000 bytes arrived"));
  EXPECT_EQ(std::count(received.begin() + 20'000, received.end(), std::byte{0}), 10'000);
}

TEST_F(Conformance, ReceivesCanBeTakenBack) {
  std::vector<std::byte> memory(100);
  Outcome taken_back;
  ASSERT_NO_FATAL_FAILURE(receive(cut(memory, 1), 5, taken_back));
  right_->cancel(taken_back);
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return taken_back.ended; }));
  EXPECT_EQ(taken_back.status.errc(), Errc::cancelled) << taken_back.status.message;
}

TEST_F(Conformance, ProvidersEndWithReceivesInFlight) {
  std::vector<std::byte> memory(100);
  std::deque<Outcome> never(10);
  for (Outcome& outcome : never) ASSERT_NO_FATAL_FAILURE(receive(cut(memory, 1), 5, outcome));
  right_.reset();
  for (const Outcome& outcome : never) EXPECT_FALSE(outcome.ended) << "nobody hears of what is over";
}

TEST_F(Conformance, WritesAreUsedExactlyWhereTheyCarryData) {
  const std::string profile = std::getenv("FI_STRICT_PROFILE");
  EXPECT_EQ(left_->capabilities().writes, profile != "efa" && profile != "bare");
}

TEST_F(Conformance, WritesIntoAPeersMemoryAndTellsIt) {
  if (!left_->capabilities().writes) GTEST_SKIP() << "the profile has no remote completion data";
  Heard heard;
  right_->set_listener(&heard);
  std::vector<std::byte> exposed(1200, std::byte{9});
  const auto target = right_->expose(exposed);
  Outcome departure;
  ASSERT_NO_FATAL_FAILURE(write(target->remote().behind(100), 0x8000'0007u, departure));
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return !heard.numbers.empty(); }));
  EXPECT_TRUE(departure.status.ok()) << departure.status.message;
  EXPECT_THAT(heard.numbers, testing::ElementsAre(0x8000'0007u));
  EXPECT_TRUE(std::equal(written_.begin(), written_.end(), exposed.begin() + 100));
  EXPECT_EQ(std::count(exposed.begin(), exposed.begin() + 100, std::byte{9}), 100);
  EXPECT_EQ(std::count(exposed.end() - 100, exposed.end(), std::byte{9}), 100);
}

// One notice for all parts, when all are there.
TEST_F(Conformance, WritesMoreThanTheLongestMessage) {
  if (!left_->capabilities().writes) GTEST_SKIP() << "the profile has no remote completion data";
  Heard heard;
  right_->set_listener(&heard);
  written_ = bytes_from(6, 500'000);
  std::vector<std::byte> exposed(written_.size());
  const auto target = right_->expose(exposed);
  std::vector<iovec> pieces = cut(written_, left_->capabilities().iov_limit);
  source_ = left_->prepare_source(pieces);
  Outcome departure;
  ASSERT_NO_FATAL_FAILURE(
      post([&] { return left_->post_write(to_right_, pieces, *source_, target->remote(), 7, departure); }));
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return !heard.numbers.empty(); }));
  EXPECT_TRUE(exposed == written_);
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return departure.ended; }));
  EXPECT_TRUE(departure.status.ok()) << departure.status.message;
  EXPECT_THAT(heard.numbers, testing::ElementsAre(7));
}

TEST_F(Conformance, WritesToMemoryThatIsNotExposedFail) {
  if (!left_->capabilities().writes) GTEST_SKIP() << "the profile has no remote completion data";
  std::vector<std::byte> exposed(1200, std::byte{9});
  const auto target = right_->expose(exposed);
  RemoteMemory elsewhere = target->remote();
  elsewhere.key ^= 1;
  Outcome wrong_key;
  ASSERT_NO_FATAL_FAILURE(write(elsewhere, 1, wrong_key));
  EXPECT_EQ(wrong_key.status.errc(), Errc::transport);
  Outcome beyond;
  ASSERT_NO_FATAL_FAILURE(write(target->remote().behind(201), 1, beyond));
  EXPECT_EQ(beyond.status.errc(), Errc::transport);
  EXPECT_EQ(std::count(exposed.begin(), exposed.end(), std::byte{9}), 1200);
}

}  // namespace
}  // namespace fab::test
