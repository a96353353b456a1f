// Shared memory between the ranks of a node: what only this provider does.
#include "providers/local/local_provider.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory_resource>
#include <numeric>
#include <random>
#include <thread>

#include "core/shared_heap.h"
#include "core/wait.h"
#include "support/outcome.h"
#include "unit/exchange.h"
#include "unit/forbidden_calls.h"
#include "unit/random_topologies.h"
#include "unit/recording_rig.h"

namespace fab::test {
namespace {

/// Made and compared in long stretches: sanitizers make each byte dear.
std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> result(bytes);
  constexpr std::size_t kPeriod = 4099;
  for (std::size_t i = 0; i < std::min(bytes, kPeriod); ++i) result[i] = static_cast<std::byte>(i * 31 + seed);
  for (std::size_t known = kPeriod; known < bytes; known *= 2)
    std::memcpy(result.data() + known, result.data(), std::min(known, bytes - known));
  return result;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// fab's own memory, which peers map.
class MappedResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override { return core::SharedHeap::of_process().allocate(bytes); }
  void do_deallocate(void* memory, std::size_t, std::size_t) override { core::SharedHeap::of_process().free(memory); }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

/// How long messages travel.
struct Way {
  const char* name;
  LongMessages wanted;
  bool forbidden = false;  ///< the kernel forbids to read other processes' memory
  bool mapped = false;     ///< they lie in memory of fab's
};

constexpr Way kWays[] = {{"automatic", LongMessages::automatic},
                         {"read", LongMessages::read},
                         {"ring", LongMessages::ring},
                         {"forbidden", LongMessages::read, true},
                         {"mapped", LongMessages::map, true, true}};

std::string name_of(const testing::TestParamInfo<Way>& info) { return info.param.name; }

/// What the kernel forbids it forbids to a thread, so that the other tests are spared.
void as_the_way_says(const Way& way, const std::function<void()>& body) {
  if (!way.forbidden) return body();
  std::thread([&] {
    ASSERT_TRUE(forbid(SYS_process_vm_readv));
    char from = 0;
    char to = 0;
    const iovec there{&from, 1};
    const iovec here{&to, 1};
    ASSERT_EQ(::process_vm_readv(::getpid(), &here, 1, &there, 1, 0), -1);
    body();
  }).join();
}

class LocalProviderTest : public testing::TestWithParam<Way> {
 protected:
  struct Message {
    explicit Message(const std::vector<std::byte>& bytes)
        : memory(bytes.size(), GetParam().mapped ? &kMapped : std::pmr::new_delete_resource()) {
      if (!bytes.empty()) std::memcpy(memory.data(), bytes.data(), bytes.size());
    }
    std::pmr::vector<std::byte> memory;
    Outcome outcome;
  };
  static inline MappedResource kMapped;

  static JobInfo job(Rank rank) {
    JobInfo info;
    info.rank = rank;
    info.size = info.local_size = 2;
    info.node_ranks = {0, 1};
    return info;
  }
  void send(Message& message, std::uint64_t tag) {
    const iovec piece{message.memory.data(), message.memory.size()};
    PostResult result = PostResult::again;
    while ((result = left_.post_send(to_right_, {&piece, 1}, tag, message.outcome)) == PostResult::again) poll();
    if (result == PostResult::done) message.outcome.ended = true;
  }
  void receive(Message& message, std::uint64_t tag) {
    const iovec piece{message.memory.data(), message.memory.size()};
    ASSERT_EQ(right_.post_recv(from_left_, {&piece, 1}, tag, 0, message.outcome), PostResult::pending);
  }
  void poll() {
    left_.poll();
    right_.poll();
  }
  void poll_until_all_ended(std::deque<Message>& messages) {
    for (int turn = 0; turn < 100'000; ++turn) {
      if (std::ranges::all_of(messages, [](const Message& each) { return each.outcome.ended; })) return;
      poll();
    }
    FAIL() << "nothing comes";
  }

  void meet_in_any_order();
  void cut_longer_messages();
  void hand_over();

  Log log_{LogLevel::warn, 0};
  local::LocalProvider left_{GetParam().wanted, job(0), log_};
  local::LocalProvider right_{GetParam().wanted, job(1), log_};
  PeerHandle to_right_ = left_.connect(right_.address());
  PeerHandle from_left_ = right_.connect(left_.address());
};

constexpr std::size_t kSizes[] = {0, 1, 39, 40, 41, 64, 1000, 16384, 32767, 32768, 32769, 200'000, 1'000'003};

void LocalProviderTest::meet_in_any_order() {
  std::mt19937 random(5);
  for (const bool receives_first : {true, false}) {
    std::deque<Message> sent;
    std::deque<Message> received;
    std::vector<std::uint64_t> tags;
    for (int repeat = 0; repeat < 3; ++repeat)
      for (const std::size_t bytes : kSizes) {
        tags.push_back(tags.size());
        sent.emplace_back(pattern(bytes, static_cast<unsigned>(tags.size())));
        received.emplace_back(std::vector<std::byte>(bytes));
      }
    const auto post_receives = [&] {
      std::shuffle(tags.begin(), tags.end(), random);
      for (const std::uint64_t tag : tags) receive(received[tag], tag);
    };
    bool posted = receives_first;
    if (posted) post_receives();
    // What nobody waits for stays in the ring, so no more than it holds may be sent before the receives.
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
      Message& sent = both.emplace_back(pattern(bytes, 3));
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
    Message& sent = both.emplace_back(pattern(kLong, 3));
    Message& received = both.emplace_back(std::vector<std::byte>(kLong));
    const iovec halves[] = {{sent.memory.data() + kLong / 2, kLong / 2}, {sent.memory.data(), kLong / 2}};
    ASSERT_EQ(left_.post_send(to_right_, halves, 1, sent.outcome), PostResult::pending);
    receive(received, 1);
    for (int turn = 0; turn < 100; ++turn) right_.poll();
    const bool can = GetParam().mapped || (!GetParam().forbidden && GetParam().wanted != LongMessages::ring);
    EXPECT_EQ(received.outcome.ended, can);
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(both));
    EXPECT_TRUE(std::equal(sent.memory.begin(), sent.memory.begin() + kLong / 2, received.memory.begin() + kLong / 2));
    EXPECT_TRUE(std::equal(sent.memory.begin() + kLong / 2, sent.memory.end(), received.memory.begin()));
  });
}

/// Messages whose copying both ends may share, from left to right.
class SharedCopy : public LocalProviderTest {
 protected:
  static constexpr std::size_t kMiB = 1024 * 1024;  // what an end copies in a poll

  /// Announces a message that waits for nothing but its copying.
  void begin(std::size_t bytes) {
    sent_ = &messages_.emplace_back(pattern(bytes, static_cast<unsigned>(bytes)));
    received_ = &messages_.emplace_back(std::vector<std::byte>(bytes));
    receive(*received_, 1);
    const iovec halves[] = {{sent_->memory.data(), bytes / 3}, {sent_->memory.data() + bytes / 3, bytes - bytes / 3}};
    ASSERT_EQ(left_.post_send(to_right_, halves, 1, sent_->outcome), PostResult::pending);
  }
  void finish() {
    ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(messages_));
    EXPECT_TRUE(received_->outcome.status.ok());
    EXPECT_TRUE(same(sent_->memory, received_->memory));
  }
  /// Whether a message of about 6 MiB is there after fewer looks of the right end's than it needs alone.
  [[nodiscard]] bool left_helps() {
    for (local::LocalProvider* end : {&right_, &left_, &right_, &left_, &left_, &left_, &right_}) end->poll();
    const bool helped = received_->outcome.ended;
    finish();
    return helped;
  }

  std::deque<Message> messages_;
  Message* sent_ = nullptr;
  Message* received_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Ways, SharedCopy, testing::Values(kWays[0], kWays[1]), name_of);

TEST_P(SharedCopy, ASenderThatWaitsHelps) {
  for (const std::size_t bytes : {6 * kMiB, 6 * kMiB, 6 * kMiB - 77}) {
    begin(bytes);
    EXPECT_TRUE(left_helps());
  }
}

TEST_P(SharedCopy, OneThatReceivesDoesNot) {
  for (const bool receives_first : {true, false}) {
    Message other{std::vector<std::byte>(kMiB)};
    const auto post_other = [&] {
      const iovec piece{other.memory.data(), other.memory.size()};
      ASSERT_EQ(left_.post_recv(to_right_, {&piece, 1}, 5, 0, other.outcome), PostResult::pending);
    };
    if (receives_first) post_other();
    begin(6 * kMiB);
    if (!receives_first) post_other();
    EXPECT_FALSE(left_helps());
    left_.cancel(other.outcome);
    begin(6 * kMiB);
    EXPECT_TRUE(left_helps());
  }
}

// It has copied what it received, and what it sends lies in the other's cache.
TEST_P(SharedCopy, OneThatHasReceivedSinceDoesNot) {
  Message there{pattern(kMiB, 5)};
  Message here{std::vector<std::byte>(kMiB)};
  begin(6 * kMiB);
  const iovec to{here.memory.data(), here.memory.size()};
  const iovec from{there.memory.data(), there.memory.size()};
  ASSERT_EQ(left_.post_recv(to_right_, {&to, 1}, 5, 0, here.outcome), PostResult::pending);
  ASSERT_EQ(right_.post_send(from_left_, {&from, 1}, 5, there.outcome), PostResult::pending);
  left_.poll();
  EXPECT_TRUE(here.outcome.ended);
  EXPECT_FALSE(left_helps());
  EXPECT_TRUE(same(here.memory, there.memory));
  while (!there.outcome.ended) poll();
}

TEST_P(SharedCopy, NobodyWaitsForOneThatDoesNotLook) {
  for (const std::size_t bytes : {kMiB, 3 * kMiB + 1}) {
    begin(bytes);
    for (std::size_t turn = 0; turn <= bytes / kMiB; ++turn) right_.poll();
    EXPECT_TRUE(received_->outcome.ended);
    finish();
  }
}

TEST_P(SharedCopy, NorForOneThatLooksOnce) {
  begin(6 * kMiB);
  right_.poll();
  left_.poll();
  for (int turn = 0; turn < 4; ++turn) right_.poll();
  EXPECT_TRUE(received_->outcome.ended);
  finish();
}

TEST_P(SharedCopy, OneThatMayNotWriteLeavesItToTheReceiver) {
  std::thread([this] {
    ASSERT_TRUE(forbid(SYS_process_vm_writev));
    for (int repeat = 0; repeat < 2; ++repeat) {
      begin(6 * kMiB);
      EXPECT_FALSE(left_helps());
    }
  }).join();
}

// Reading is forbidden while the sender helps.
TEST_P(SharedCopy, AReceiverThatMayNotReadAnyMoreIsSentEverything) {
  std::thread([this] {
    begin(6 * kMiB);
    right_.poll();
    left_.poll();
    ASSERT_TRUE(forbid(SYS_process_vm_readv));
    right_.poll();
    left_.poll();
    // From now on only what is sent comes, from the first byte on.
    const std::span end = std::span(received_->memory).last(5 * kMiB);
    std::memset(end.data(), 0xee, end.size());
    for (int turn = 0; turn < 10; ++turn) left_.poll();
    EXPECT_TRUE(same(end, std::vector<std::byte>(end.size(), std::byte{0xee})));
    finish();
    begin(2 * kMiB);
    finish();
  }).join();
}

TEST_P(SharedCopy, EveryByteComesWhoeverLooksWhen) {
  std::mt19937 random(3);
  for (int round = 0; round < 12; ++round) {
    messages_.clear();
    const std::size_t count = 1 + random() % 3;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t bytes = 200'000 + random() % 2'500'000;
      const std::size_t more = random() % 3 * 1000;
      Message& sent = messages_.emplace_back(pattern(bytes, static_cast<unsigned>(random())));
      receive(messages_.emplace_back(std::vector<std::byte>(bytes + more)), i);
      send(sent, i);
    }
    const auto all_ended = [&] {
      return std::ranges::all_of(messages_, [](const Message& each) { return each.outcome.ended; });
    };
    while (!all_ended()) static_cast<void>(random() % 2 == 0 ? left_.poll() : right_.poll());
    for (std::size_t i = 0; i < messages_.size(); i += 2) {
      const std::span sent(messages_[i].memory);
      const std::span received(messages_[i + 1].memory);
      EXPECT_EQ(messages_[i + 1].outcome.bytes, sent.size());
      EXPECT_TRUE(same(sent, received.first(sent.size())));
      EXPECT_TRUE(same(received.subspan(sent.size()), std::vector<std::byte>(received.size() - sent.size())));
    }
  }
}

TEST_P(SharedCopy, EndsThatLookAtOnce) {
  for (int round = 0; round < 8; ++round) {
    begin(2 * kMiB + static_cast<std::size_t>(round) * 4001);
    std::jthread left([this] {
      while (!sent_->outcome.ended) left_.poll();
    });
    while (!received_->outcome.ended) right_.poll();
    left.join();
    EXPECT_TRUE(same(sent_->memory, received_->memory));
  }
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
        Message& sent = messages.emplace_back(pattern(bytes, 3));
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
        const bool read = GetParam().wanted == LongMessages::read && !GetParam().forbidden;
        const bool by_kernel =
            (read && bytes > 40) || (GetParam().wanted == LongMessages::automatic && bytes > 16 * 1024);
        const auto expected = pattern(bytes, 3);
        if (wants && !by_kernel) {
          EXPECT_TRUE(taker.kept == expected);
          EXPECT_EQ(taker.message_bytes, bytes);
          EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{9}), bytes) << "nothing is copied besides";
        } else {
          EXPECT_TRUE(taker.kept.empty());
          EXPECT_TRUE(memory == expected);
        }
      }
}

TEST_P(LocalProviderTest, WhoTakesBytesGetsEachOnceAndNoCopy) {
  as_the_way_says(GetParam(), [this] { hand_over(); });
}

TEST_P(LocalProviderTest, AFullRingRefusesUntilThereIsRoom) {
  std::deque<Message> sent;
  Message probe{pattern(8, 0)};
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
    Message probe{pattern(8, 0)};
    const iovec small{probe.memory.data(), probe.memory.size()};
    std::uint64_t filled = 0;
    while (right_.post_send(from_left_, {&small, 1}, filled, probe.outcome) == PostResult::done) ++filled;
    std::deque<Message> both;
    Message& sent = both.emplace_back(pattern(100'000, 1));
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
    EXPECT_TRUE(received.memory == sent.memory);
  });
}

TEST_P(LocalProviderTest, WakesASleeper) {
  Message received{std::vector<std::byte>(8)};
  receive(received, 1);
  ASSERT_TRUE(right_.may_sleep());
  pollfd descriptor{right_.wait_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0) << "nothing has come";
  Message sent{pattern(8, 1)};
  send(sent, 1);
  EXPECT_EQ(::poll(&descriptor, 1, 0), 1);
  right_.poll();
  EXPECT_TRUE(received.outcome.ended);
  ASSERT_TRUE(right_.may_sleep());
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0) << "the bell is silent again";
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
