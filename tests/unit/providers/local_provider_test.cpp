// Shared memory between the ranks of a node: what only this provider does.
#include "providers/local/local_provider.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "core/run/wait.h"
#include "providers/local/ring.h"
#include "unit/harness/exchange.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/local_ends.h"
#include "unit/support/random_topologies.h"

namespace fab::test {
namespace {

class LocalProviderTest : public LocalEnds {
 protected:
  void meet_in_any_order();
  void cut_longer_messages();
  void hand_over();
};

constexpr std::size_t kInside = local::Cell::kInlineBytes;
constexpr std::size_t kSizes[] = {0,    1,     40,    41,    kInside - 1, kInside, kInside + 1,
                                  1000, 16384, 32767, 32768, 32769,       200'000, 1'000'003};

void LocalProviderTest::meet_in_any_order() {
  std::mt19937 random(5);
  for (const bool receives_first : {true, false}) {
    std::deque<Message> sent;
    std::deque<Message> received;
    std::vector<std::uint64_t> tags;
    for (int repeat = 0; repeat < 3; ++repeat)
      for (const std::size_t bytes : kSizes) {
        tags.push_back(tags.size());
        sent.emplace_back(periodic_bytes(bytes, static_cast<unsigned>(tags.size())));
        received.emplace_back(std::vector<std::byte>(bytes));
      }
    const auto post_receives = [&] {
      std::shuffle(tags.begin(), tags.end(), random);
      for (const std::uint64_t tag : tags) receive(received[tag], tag);
    };
    bool posted = receives_first;
    if (posted) post_receives();
    // A message without a receive stays in the ring, so no more than it holds may be sent before the receives.
    std::size_t early = 0;
    for (std::uint64_t tag = 0; tag < sent.size(); ++tag) {
      early += sent[tag].memory.size();
      if (!posted && early > 100'000) {
        post_receives();
        posted = true;
      }
      send(sent[tag], tag);
    }
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(received));
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(sent));
    for (std::size_t i = 0; i < sent.size(); ++i) {
      EXPECT_TRUE(received[i].outcome.status.ok()) << received[i].outcome.status.message;
      EXPECT_TRUE(same(received[i].memory, sent[i].memory)) << sent[i].memory.size() << " bytes";
    }
    EXPECT_FALSE(left_.busy());
    EXPECT_FALSE(right_.busy());
  }
}

TEST_P(LocalProviderTest, MessagesMeetTheirReceivesInAnyOrder) {
  as_the_way_says(GetParam(), [this] { meet_in_any_order(); });
}

void LocalProviderTest::cut_longer_messages() {
  for (const std::size_t bytes : kSizes)
    for (const std::size_t room : {std::size_t{0}, bytes / 2, bytes}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes where there is room for " << room);
      std::deque<Message> both;
      Message& sent = both.emplace_back(periodic_bytes(bytes, 3));
      Message& received = both.emplace_back(std::vector<std::byte>(room + 64, std::byte{9}));
      const iovec piece{received.memory.data(), room};
      ASSERT_EQ(right_.post_recv(from_left_, {&piece, 1}, 7, 0, received.outcome), PostResult::pending);
      send(sent, 7);
      ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(both));
      EXPECT_TRUE(received.outcome.status.ok());
      EXPECT_EQ(received.outcome.bytes, bytes);
      EXPECT_TRUE(std::equal(received.memory.begin(), received.memory.end() - 64, sent.memory.begin()));
      EXPECT_EQ(std::count(received.memory.end() - 64, received.memory.end(), std::byte{9}), 64) << "beyond its room";
    }
}

TEST_P(LocalProviderTest, LongerMessagesAreCutAndToldWhole) {
  as_the_way_says(GetParam(), [this] { cut_longer_messages(); });
}

// The receiver alone copies: it needs neither the kernel nor its peer.
TEST_P(LocalProviderTest, MappedMemoryIsCopiedByTheReceiverAlone) {
  constexpr std::size_t kLong = 3'000'000;
  as_the_way_says(GetParam(), [this] {
    std::deque<Message> both;
    Message& sent = both.emplace_back(periodic_bytes(kLong, 3));
    Message& received = both.emplace_back(std::vector<std::byte>(kLong));
    const iovec halves[] = {{sent.memory.data() + kLong / 2, kLong / 2}, {sent.memory.data(), kLong / 2}};
    ASSERT_EQ(left_.post_send(to_right_, halves, 1, sent.outcome), PostResult::pending);
    receive(received, 1);
    for (int turn = 0; turn < 100; ++turn) right_.poll();
    const bool can = GetParam().mapped || (!GetParam().forbidden && GetParam().wanted != LocalLong::ring);
    EXPECT_EQ(received.outcome.ended, can);
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(both));
    EXPECT_TRUE(std::equal(sent.memory.begin(), sent.memory.begin() + kLong / 2, received.memory.begin() + kLong / 2));
    EXPECT_TRUE(std::equal(sent.memory.begin() + kLong / 2, sent.memory.end(), received.memory.begin()));
  });
}

// Until a thread has waited for a while, a peer that has closed looks like one that sends nothing.
TEST_P(LocalProviderTest, WhatAClosedPeerHasNotSentFailsOnceItsCloseIsNoticed) {
  as_the_way_says(GetParam(), [this] {
    std::deque<Message> all;
    Message& sent = all.emplace_back(periodic_bytes(8, 1));
    Message& received = all.emplace_back(std::vector<std::byte>(8));
    Message& missed = all.emplace_back(std::vector<std::byte>(8));
    Message& late = all.emplace_back(periodic_bytes(8, 2));
    send(sent, 1);
    ASSERT_TRUE(sent.outcome.ended);
    left_.tell_closed();
    receive(missed, 2);
    for (int turn = 0; turn < 100; ++turn) right_.poll();
    EXPECT_FALSE(missed.outcome.ended);
    receive(received, 1);
    right_.notice_close(from_left_);
    for (int turn = 0; turn < 100; ++turn) right_.poll();
    EXPECT_TRUE(received.outcome.ended && received.outcome.status.ok()) << received.outcome.status.message;
    EXPECT_TRUE(same(received.memory, sent.memory));
    EXPECT_EQ(missed.outcome.status.errc(), Errc::unreachable);
    EXPECT_EQ(missed.outcome.status.message, "it has closed fab");
    const iovec piece{late.memory.data(), late.memory.size()};
    ASSERT_EQ(right_.post_send(from_left_, {&piece, 1}, 3, late.outcome), PostResult::pending);
    EXPECT_EQ(late.outcome.status.errc(), Errc::unreachable);
  });
}

TEST_P(LocalProviderTest, APeerIsOpenUntilItSaysThatItCloses) {
  std::deque<Message> both;
  Message& received = both.emplace_back(std::vector<std::byte>(8));
  receive(received, 1);
  right_.notice_close(from_left_);
  right_.poll();
  EXPECT_FALSE(received.outcome.ended);
  send(both.emplace_back(periodic_bytes(8, 1)), 1);
  ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(both));
  EXPECT_TRUE(received.outcome.status.ok());
}

/// A receive that keeps what it is handed, if it wants it.
struct Taker : Completion {
  explicit Taker(bool takes)
      : Completion([](Completion& self, std::uint64_t, std::uint64_t) noexcept { of(self).ended = true; },
                   [](Completion& self, const Status& its_status) noexcept {
                     of(self).status = its_status;
                     of(self).ended = true;
                   },
                   [](Completion& self, const Delivery& delivery) noexcept { return of(self).keep(delivery); }),
        wants(takes) {}
  static Taker& of(Completion& self) { return static_cast<Taker&>(self); }
  bool keep(const Delivery& delivery) {
    if (!wants) return false;
    EXPECT_EQ(delivery.offset, kept.size()) << "in order, each byte once";
    EXPECT_EQ(delivery.tag, 7u);
    message_bytes = delivery.message_bytes;
    kept.insert(kept.end(), delivery.bytes.begin(), delivery.bytes.end());
    return true;
  }

  bool wants;
  bool ended = false;
  Status status;
  std::uint64_t message_bytes = 0;
  std::vector<std::byte> kept;
};

void LocalProviderTest::hand_over() {
  for (const std::size_t bytes : kSizes)
    for (const bool wants : {true, false})
      for (const bool early : {false, true}) {
        SCOPED_TRACE(testing::Message() << bytes << " bytes, wanted " << wants << ", early " << early);
        std::deque<Message> messages;
        Message& sent = messages.emplace_back(periodic_bytes(bytes, 3));
        std::vector<std::byte> memory(bytes, std::byte{9});
        Taker taker(wants);
        const iovec piece{memory.data(), bytes};
        Message& other = messages.emplace_back(std::vector<std::byte>(1));  // has the early one taken in
        if (early) {
          send(sent, 7);
          Message& behind = messages.emplace_back(std::vector<std::byte>(1));
          receive(other, 8);
          send(behind, 8);
          while (!other.outcome.ended) poll();
        }
        ASSERT_EQ(right_.post_recv(from_left_, {&piece, 1}, 7, 0, taker), PostResult::pending);
        if (!early) {
          send(sent, 7);
          other.outcome.ended = true;
        }
        ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(messages));
        for (int turn = 0; turn < 1000 && !taker.ended; ++turn) poll();
        ASSERT_TRUE(taker.ended);
        EXPECT_TRUE(taker.status.ok());
        // What the kernel copies goes to the pieces.
        const bool read = GetParam().wanted == LocalLong::read && !GetParam().forbidden;
        const bool by_kernel =
            (read && bytes > kInside) || (GetParam().wanted == LocalLong::automatic && bytes > 16 * 1024);
        const auto expected = periodic_bytes(bytes, 3);
        if (wants && !by_kernel) {
          EXPECT_TRUE(same(taker.kept, expected));
          EXPECT_EQ(taker.message_bytes, bytes);
          EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{9}), bytes) << "nothing is copied besides";
        } else {
          EXPECT_TRUE(taker.kept.empty());
          EXPECT_TRUE(same(memory, expected));
        }
      }
}

TEST_P(LocalProviderTest, WhoTakesBytesGetsEachOnceAndNoCopy) {
  as_the_way_says(GetParam(), [this] { hand_over(); });
}

TEST_P(LocalProviderTest, AFullRingRefusesUntilThereIsRoom) {
  std::deque<Message> sent;
  Message probe{periodic_bytes(8, 0)};
  const iovec piece{probe.memory.data(), probe.memory.size()};
  std::size_t accepted = 0;
  while (left_.post_send(to_right_, {&piece, 1}, accepted, probe.outcome) == PostResult::done) ++accepted;
  EXPECT_EQ(accepted, local::Ring::kCells);
  EXPECT_TRUE(left_.may_sleep()) << "nothing can be done before the peer reads";
  std::deque<Message> received;
  for (std::uint64_t tag = 0; tag < accepted; ++tag) receive(received.emplace_back(std::vector<std::byte>(8)), tag);
  ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(received));
  EXPECT_FALSE(left_.may_sleep()) << "there is room again";
  EXPECT_EQ(left_.post_send(to_right_, {&piece, 1}, accepted, probe.outcome), PostResult::done);
}

// The announcement of a long message is answered; the answer finds no room, and its rank sleeps.
TEST_P(LocalProviderTest, ASleeperIsWokenWhenThereIsRoomForItsAnswer) {
  as_the_way_says(GetParam(), [this] {
    Message probe{periodic_bytes(8, 0)};
    const iovec small{probe.memory.data(), probe.memory.size()};
    std::uint64_t filled = 0;
    while (right_.post_send(from_left_, {&small, 1}, filled, probe.outcome) == PostResult::done) ++filled;
    std::deque<Message> both;
    Message& sent = both.emplace_back(periodic_bytes(100'000, 1));
    Message& received = both.emplace_back(std::vector<std::byte>(sent.memory.size()));
    receive(received, 7);
    send(sent, 7);
    for (int turn = 0; turn < 10; ++turn) right_.poll();
    ASSERT_TRUE(right_.may_sleep());
    std::deque<Message> drained;
    for (std::uint64_t tag = 0; tag < filled; ++tag) {
      const iovec piece{drained.emplace_back(std::vector<std::byte>(8)).memory.data(), 8};
      ASSERT_EQ(left_.post_recv(to_right_, {&piece, 1}, tag, 0, drained.back().outcome), PostResult::pending);
    }
    left_.poll();
    pollfd descriptor{right_.wait_fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&descriptor, 1, 0), 1);
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(both));
    EXPECT_TRUE(same(received.memory, sent.memory));
  });
}

TEST_P(LocalProviderTest, WakesASleeper) {
  Message received{std::vector<std::byte>(8)};
  receive(received, 1);
  ASSERT_TRUE(right_.may_sleep());
  pollfd descriptor{right_.wait_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0) << "nothing has come";
  Message sent{periodic_bytes(8, 1)};
  send(sent, 1);
  EXPECT_EQ(::poll(&descriptor, 1, 0), 1);
  right_.poll();
  EXPECT_TRUE(received.outcome.ended);
  EXPECT_EQ(::poll(&descriptor, 1, 0), 1) << "the sleeper need not be the one who polls";
  right_.awake();
  ASSERT_TRUE(right_.may_sleep());
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0) << "the doorbell is silent again";
}

// A thread that posts while another thread sleeps asks again.
TEST_P(LocalProviderTest, TellsWhenAPostMeetsWhatIsThereAlready) {
  Message sent{periodic_bytes(8, 1)};
  send(sent, 1);
  right_.poll();
  ASSERT_TRUE(right_.may_sleep()) << "no caller waits for it";
  ASSERT_FALSE(right_.is_disarmed());
  Message received{std::vector<std::byte>(8)};
  receive(received, 1);
  EXPECT_FALSE(right_.may_sleep());
  right_.awake();
  EXPECT_TRUE(right_.is_disarmed());
  right_.poll();
  EXPECT_TRUE(received.outcome.ended);
}

INSTANTIATE_TEST_SUITE_P(Ways, LocalProviderTest, testing::ValuesIn(kWays), name_of);

class LocalExchange : public testing::TestWithParam<Way> {
 protected:
  static InProcessJob job(int ranks, const Config& config) {
    return InProcessJob(
        [](const Config&, const JobInfo& its_job, const Log& log) {
          return Transports{.node = std::make_unique<local::LocalProvider>(GetParam().wanted, its_job, log),
                            .network = nullptr};
        },
        ranks, config);
  }
};

TEST_P(LocalExchange, OfRandomGraphs) {
  for (const int ranks : {1, 2, 5})
    for (const std::size_t longest : {60u, 9000u, 80'000u}) {
      InProcessJob its_job = job(ranks, caller_config());
      for (std::uint32_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks, up to " << longest << " B, seed " << seed);
        Exchange exchange(its_job.communicators([&](Rank) { return random_graph(ranks, seed); }),
                          {.seed = seed, .longest_bytes = longest, .most_pieces = 20});
        for (std::uint32_t repeat = 0; repeat < 2; ++repeat) {
          exchange.reset(repeat);
          exchange.run(its_job);
        }
      }
    }
}

// Each rank is a thread that waits for its own: it spins, yields and sleeps as a process would.
TEST_P(LocalExchange, OfThreadsThatWait) {
  constexpr int kRanks = 3;
  constexpr std::uint32_t kRepeats = 200;
  for (const std::size_t longest : {60u, 50'000u}) {
    Config config = caller_config();
    config.progress = ProgressMode::automatic;
    InProcessJob its_job = job(kRanks, config);
    Exchange exchange(its_job.communicators([&](Rank) { return random_graph(kRanks, 3); }),
                      {.seed = 3, .longest_bytes = longest, .most_pieces = 3});
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < kRanks; ++rank)
      threads.emplace_back([&exchange, rank] {
        for (std::uint32_t repeat = 0; repeat < kRepeats; ++repeat) {
          core::Run& run = exchange.start(rank);
          core::wait(run);
          EXPECT_TRUE(release(run).ok());
        }
      });
    threads.clear();
    for (Rank rank = 0; rank < kRanks; ++rank) exchange.check(rank);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, LocalExchange, testing::ValuesIn(std::span(kWays).first(3)), name_of);

}  // namespace
}  // namespace fab::test
