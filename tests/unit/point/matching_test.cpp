// Which receive takes which message, and when a send is complete.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <random>

#include "unit/harness/exchange.h"
#include "unit/point/point_to_point_fixture.h"
#include "unit/support/random_topologies.h"

namespace fab::test::point {
namespace {

constexpr std::size_t kMostBytes = 40'000;  ///< of a message of a random program

/// A program of all ranks. What MPI's rules leave open (which of several senders is first) is not compared; what they
/// demand is: see check().
class RandomProgram {
 public:
  struct Sent {
    std::uint32_t number;
    Operation operation;
    std::size_t communicator;
    Rank from;
    Destination to;
    SendMode mode;
  };
  struct Received {
    Operation operation;
    std::size_t communicator;
    Rank at;
    Source from;
    const Sent* message = nullptr;
    bool taken_back = false;
  };

  RandomProgram(InProcessJob& job, std::uint32_t seed, std::size_t messages) : job_(job), random_(seed) {
    for (std::size_t i = 0; i < 2; ++i) communicators_.push_back(job.communicators(no_topology));
    for (std::size_t i = 0; i < messages; ++i) add(static_cast<std::uint32_t>(i));
    std::shuffle(receives_.begin(), receives_.end(), random_);
  }

  void run() {
    std::size_t next_send = 0;
    std::size_t next_receive = 0;
    while (next_send < sends_.size() || next_receive < receives_.size()) {
      const bool sends = next_receive == receives_.size() || (next_send < sends_.size() && random_() % 2 == 0);
      if (sends)
        start(sends_[next_send++]);
      else
        start(receives_[next_receive++]);
      if (random_() % 3 == 0) job_.progress();
    }
    settle();
    take_back_receives();
    receive_the_rest();
    for (const Sent& sent : sends_) ASSERT_TRUE(sent.operation.done()) << "a send is stuck";
    for (Sent& sent : sends_) {
      sent.operation.end();
      EXPECT_TRUE(sent.operation.status.ok()) << sent.operation.status.message;
    }
    identify_messages();
    check();
  }

 private:
  [[nodiscard]] int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  // The receive would match its message, and perhaps others.
  void add(std::uint32_t number) {
    static constexpr std::array<std::size_t, 8> kBytes{
        4, 4, 60, 1000, core::kNearEagerBytes + 1, core::kEagerBytes, core::kEagerBytes + 1, kMostBytes};
    static constexpr std::array<SendMode, 4> kModes{SendMode::standard, SendMode::standard, SendMode::buffered,
                                                    SendMode::synchronous};
    const std::size_t bytes = kBytes[random_() % kBytes.size()];
    Sent& sent = sends_.emplace_back(Sent{number,
                                          {},
                                          random_() % 2,
                                          pick(job_.size()),
                                          {pick(job_.size()), Tag{pick(3)}},
                                          kModes[random_() % kModes.size()]});
    sent.operation.memory = data(number, bytes);
    std::memcpy(sent.operation.memory.data(), &number, sizeof(number));
    Received& received =
        receives_.emplace_back(Received{{}, sent.communicator, sent.to.rank, {sent.from, sent.to.tag}});
    if (random_() % 3 == 0) received.from.rank = kAnySource;
    if (random_() % 3 == 0) received.from.tag = kAnyTag;
  }

  void start(Sent& sent) {
    sent.operation.communicator = communicators_[sent.communicator][static_cast<std::size_t>(sent.from)].get();
    send(sent.operation, sent.to, sent.mode);
  }

  void start(Received& received) {
    received.operation.communicator =
        communicators_[received.communicator][static_cast<std::size_t>(received.at)].get();
    received.operation.memory.assign(kMostBytes + 8, std::byte{0xee});
    receive(received.operation, received.from);
  }

  [[nodiscard]] std::size_t count_done() const {
    const auto is_done = [](const auto& each) { return each.operation.done(); };
    return static_cast<std::size_t>(std::ranges::count_if(sends_, is_done) + std::ranges::count_if(receives_, is_done));
  }

  void settle() {
    for (std::size_t before = count_done(), quiet = 0; quiet < 300; ++quiet) {
      job_.progress();
      if (const std::size_t now = count_done(); now != std::exchange(before, now)) quiet = 0;
    }
  }

  void take_back_receives() {
    for (Received& received : receives_) {
      if (!received.operation.done()) {
        const core::Lock lock(received.operation.communicator->engine());
        received.operation.pending->cancel();
        received.taken_back = true;
      }
      ASSERT_TRUE(received.operation.done());
      received.operation.end();
      ASSERT_EQ(received.operation.status.ok(), !received.taken_back) << received.operation.status.message;
    }
  }

  void receive_the_rest() {
    const auto left = std::ranges::count(receives_, true, &Received::taken_back);
    std::deque<Received> rest;
    for (std::ptrdiff_t i = 0; i < left; ++i)
      for (std::size_t communicator = 0; communicator < communicators_.size(); ++communicator)
        for (Rank at = 0; at < job_.size(); ++at) {
          core::Communicator& core = *communicators_[communicator][static_cast<std::size_t>(at)];
          const core::Lock lock(core.engine());
          if (!core.context().point_to_point().find(core, {})) continue;
          core::Context& context = core.context();
          Received& received = rest.emplace_back(Received{{}, communicator, at, {}});
          received.operation.communicator = &core;
          received.operation.memory.assign(kMostBytes + 8, std::byte{0xee});
          received.operation.pending = &context.point_to_point().receive(
              core, {received.operation.memory.data(), received.operation.memory.size()}, {});
        }
    settle();
    EXPECT_EQ(static_cast<std::ptrdiff_t>(rest.size()), left) << "as many messages as receives";
    for (Received& received : rest) {
      ASSERT_TRUE(received.operation.done());
      received.operation.end();
      receives_.push_back(std::move(received));
    }
  }

  /// By what they contain.
  void identify_messages() {
    std::vector<int> taken(sends_.size());
    for (Received& received : receives_) {
      if (received.taken_back) continue;
      std::uint32_t number = 0;
      std::memcpy(&number, received.operation.memory.data(), sizeof(number));
      ASSERT_LT(number, sends_.size());
      const Sent& sent = sends_[number];
      received.message = &sent;
      ++taken[number];
      EXPECT_EQ(received.operation.message, (MessageInfo{sent.from, sent.to.tag, sent.operation.memory.size()}));
      const auto end = received.operation.memory.begin() + static_cast<std::ptrdiff_t>(sent.operation.memory.size());
      EXPECT_TRUE(std::equal(received.operation.memory.begin(), end, sent.operation.memory.begin())) << "other bytes";
      EXPECT_TRUE(std::all_of(end, received.operation.memory.end(), [](std::byte b) { return b == std::byte{0xee}; }));
      EXPECT_EQ(sent.to.rank, received.at);
      EXPECT_EQ(sent.communicator, received.communicator);
      EXPECT_TRUE(would_take(received, sent));
    }
    EXPECT_THAT(taken, testing::Each(1));
  }

  static bool would_take(const Received& received, const Sent& sent) {
    return received.communicator == sent.communicator && received.at == sent.to.rank &&
           (received.from.rank == kAnySource || received.from.rank == sent.from) &&
           (received.from.tag == kAnyTag || received.from.tag == sent.to.tag);
  }

  // Let a rank send m, later n, to one rank on one communicator. If the receive that took n would also have taken m, it
  // was posted after the receive that took m. (Receives stand in the order of their posts, sends too.) And a receive
  // that had to be taken back would have taken none of the messages that were left then.
  void check() const {
    for (std::size_t later = 0; later < receives_.size(); ++later) {
      const Sent* message = receives_[later].message;
      if (message == nullptr) continue;
      const bool was_left = later >= sends_.size();
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        const Received& other = receives_[earlier];
        if (!would_take(other, *message)) continue;
        if (other.taken_back) {
          EXPECT_FALSE(was_left) << "receive " << earlier << " was passed over by message " << message->number;
        } else {
          EXPECT_FALSE(other.message->from == message->from && message->number < other.message->number)
              << "message " << other.message->number << " overtook " << message->number;
        }
      }
    }
  }

  InProcessJob& job_;
  std::mt19937 random_;
  std::vector<InProcessJob::Communicators> communicators_;
  std::deque<Sent> sends_;
  std::deque<Received> receives_;
};

TEST_P(PointToPoint, RandomProgramsKeepTheRulesOfMatching) {
  for (const int ranks : {1, 2, 4})
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, seed " << seed);
      InProcessJob job(ranks, caller_config(), options(seed));
      RandomProgram program(job, seed, 40 * static_cast<std::size_t>(ranks));
      ASSERT_NO_FATAL_FAILURE(program.run());
      expect_nothing_left(job, ranks == 1 ? 0 : static_cast<std::size_t>(ranks));
    }
}

TEST_P(PointToPoint, MessagesToARankThatHasNotCalledYetHoldUpNothing) {
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    InProcessJob job(3, caller_config(), options(seed));
    const auto communicators = job.communicators(no_topology);
    std::deque<Operation> sends;
    for (std::uint32_t i = 0; i < 40; ++i) {
      sends.push_back({communicators[i % 2].get(), data(i, i % 5 == 0 ? kMostBytes : 300)});
      send(sends.back(), {2, static_cast<Tag>(i)});
    }
    Exchange exchange(job.communicators([&](Rank) { return random_graph(3, seed); }), {.seed = seed});
    for (std::uint32_t generation = 0; generation < 5; ++generation) {
      exchange.reset(generation);
      ASSERT_NO_FATAL_FAILURE(exchange.run(job));
    }
    for (std::uint32_t i = 0; i < 40; ++i) {
      Operation received{communicators[2].get(), std::vector<std::byte>(kMostBytes)};
      receive(received, {kAnySource, static_cast<Tag>(i)});
      ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return received.done(); }));
      received.end();
      EXPECT_EQ(received.message, (MessageInfo{static_cast<Rank>(i % 2), static_cast<Tag>(i), sends[i].memory.size()}));
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return std::ranges::all_of(sends, &Operation::done); }));
    for (Operation& each : sends) each.end();
    expect_nothing_left(job, 3);
  }
}

TEST_P(PointToPoint, ModesDecideWhenASendIsComplete) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{70'000}}) {
    InProcessJob job(2, caller_config(), options(1));
    const auto communicators = job.communicators(no_topology);
    {
      const core::Lock lock(communicators[1]->engine());
      EXPECT_EQ(point_to_point(*communicators[1]).find(*communicators[1], {}), std::nullopt);  // listens from now on
    }
    std::deque<Operation> sends;
    for (const SendMode mode : {SendMode::standard, SendMode::buffered, SendMode::synchronous}) {
      sends.push_back({communicators[0].get(), data(static_cast<std::uint32_t>(mode), bytes)});
      send(sends.back(), {1, static_cast<Tag>(mode)}, mode);
    }
    EXPECT_TRUE(sends[1].done()) << "buffered";
    progress(job, 500);
    EXPECT_EQ(sends[0].done(), bytes == 100);
    EXPECT_FALSE(sends[2].done()) << "synchronous";
    const std::vector<std::byte> buffered = std::exchange(sends[1].memory, std::vector<std::byte>(bytes));
    for (int tag = 0; tag < 3; ++tag) {
      Operation received{communicators[1].get(), std::vector<std::byte>(bytes)};
      receive(received, {0, Tag{tag}});
      ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return received.done(); }));
      received.end();
      EXPECT_EQ(received.memory, tag == 1 ? buffered : sends[static_cast<std::size_t>(tag)].memory);
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return std::ranges::all_of(sends, &Operation::done); }));
    for (Operation& each : sends) each.end();
    expect_nothing_left(job, 2);
  }
}

// Of the tests in other files of this folder, too.
INSTANTIATE_TEST_SUITE_P(Networks, PointToPoint, kNetworks);

}  // namespace
}  // namespace fab::test::point
