// Messages between the ranks of one process, over a network that is as unkind as a provider may be.
#include "core/point/point_to_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>

#include "core/progress/driver.h"
#include "unit/harness/exchange.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/random_topologies.h"

namespace fab::test {
namespace {

constexpr std::size_t kNetworkListeners = 8;  ///< that a rank keeps posted, unless the network has just refused one
constexpr std::size_t kMostBytes = 40'000;    ///< of a message of a random program

std::optional<Topology> no_topology(Rank) { return std::nullopt; }

/// A send or receive of a test, with its memory.
struct Operation {
  core::Communicator* communicator = nullptr;
  std::vector<std::byte> memory{};
  core::Pending* pending = nullptr;
  Status status{};
  MessageInfo message{};

  [[nodiscard]] bool done() const { return pending == nullptr || pending->done(); }
  /// Lets go of what is done.
  void end() {
    const core::Lock lock(communicator->engine());
    status = pending->status();
    message = pending->message();
    std::exchange(pending, nullptr)->let_go();
  }
};

core::PointToPoint& point_to_point(core::Communicator& communicator) FAB_REQUIRES(core::engine_lock) {
  return communicator.context().point_to_point();
}

void send(Operation& operation, Destination to, SendMode mode = SendMode::standard) {
  const core::Lock lock(operation.communicator->engine());
  operation.pending = &point_to_point(*operation.communicator)
                           .send(*operation.communicator, {operation.memory.data(), operation.memory.size()}, to, mode);
}

void receive(Operation& operation, Source from) {
  const core::Lock lock(operation.communicator->engine());
  operation.pending = &point_to_point(*operation.communicator)
                           .receive(*operation.communicator, {operation.memory.data(), operation.memory.size()}, from);
}

std::vector<std::byte> data(std::uint32_t seed, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  std::uint32_t value = seed * 2654435761u + 1;
  for (std::byte& each : result) each = static_cast<std::byte>((value = value * 1664525u + 1013904223u) >> 24);
  return result;
}

struct Matching {
  NetworkOptions network;
  const char* name;
};

void PrintTo(const Matching& setting, std::ostream* out) { *out << setting.name; }

const Matching kDirected{{}, "directed receives"};
const Matching kUndirected{{.directed_receive = false, .iov_limit = 1, .tag_mask = (1ull << 48) - 1},
                           "no directed receives, 48 bits of tag"};
const Matching kBlocking{{.directed_receive = false, .early_messages_block = true}, "early messages block"};

class PointToPoint : public testing::TestWithParam<Matching> {
 protected:
  static NetworkOptions options(std::uint32_t seed) {
    NetworkOptions result = GetParam().network;
    result.seed = seed;
    return result;
  }
  template <class Done>
  static void progress_until(InProcessJob& job, Done&& done, int turns = 20'000) {
    for (int turn = 0; turn < turns && !done(); ++turn) job.progress();
    ASSERT_TRUE(done()) << "stuck";
  }
  static void progress(InProcessJob& job, int turns) {
    for (int turn = 0; turn < turns; ++turn) job.progress();
  }
  /// Nothing is left but the receives that wait for any message.
  static void expect_nothing_left(InProcessJob& job, std::size_t ranks_that_listen) {
    const std::size_t listeners = ranks_that_listen * kNetworkListeners;
    // Refused answers are the engines', and not yet the network's.
    const auto some_active = [&job] {
      for (Rank rank = 0; rank < job.size(); ++rank)
        if (job.context(rank).engine().active() > 0) return true;
      return false;
    };
    for (int turn = 0; turn < 1000 && (job.network().left_over() != listeners || some_active()); ++turn) job.progress();
    EXPECT_EQ(job.network().left_over(), listeners);
    for (Rank rank = 0; rank < job.size(); ++rank) EXPECT_EQ(job.context(rank).engine().active(), 0) << rank;
  }
  /// Rank 0 sends messages of so many bytes, more than rank 1 keeps, before that receives them.
  static void send_beyond_the_window(std::size_t bytes) {
    const int kept = core::kWindow / core::credits_for(bytes);
    const auto messages = static_cast<std::uint32_t>(kept) + 50;
    InProcessJob job(2, caller_config(), options(3));
    const auto communicators = job.communicators(no_topology);
    std::deque<Operation> sends;
    for (std::uint32_t i = 0; i < messages; ++i) {
      sends.push_back({communicators[0].get(), data(i, bytes)});
      send(sends.back(), {1, static_cast<Tag>(i)});
    }
    // Rank 1 receives nothing, but makes progress.
    Operation unrelated{communicators[1].get(), std::vector<std::byte>(bytes)};
    receive(unrelated, {1, Tag{0}});
    progress(job, 10'000);
    EXPECT_EQ(std::ranges::count_if(sends, &Operation::done), kept);
    // The last is received first.
    for (std::uint32_t i = messages; i-- > 0;) {
      Operation received{communicators[1].get(), std::vector<std::byte>(bytes)};
      receive(received, {0, static_cast<Tag>(i)});
      ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return received.done(); }));
      received.end();
      EXPECT_TRUE(received.status.ok());
      EXPECT_EQ(received.memory, data(i, bytes)) << i;
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return std::ranges::all_of(sends, &Operation::done); }));
    for (Operation& each : sends) each.end();
    {
      const core::Lock lock(communicators[1]->engine());
      unrelated.pending->cancel();
    }
    unrelated.end();
    EXPECT_EQ(unrelated.status.errc(), Errc::cancelled);
    expect_nothing_left(job, 2);
  }
};

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

TEST_P(PointToPoint, SendsBeyondTheWindowStayWithTheirSender) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{1000}, std::size_t{core::kEagerBytes}}) {
    SCOPED_TRACE(bytes);
    ASSERT_NO_FATAL_FAILURE(send_beyond_the_window(bytes));
  }
}

// Those that are sent one after the other leave as a few; the first ones, and a lone one, leave at once.
TEST_P(PointToPoint, ManyShortMessagesLeaveInBundles) {
  constexpr std::uint32_t kMessages = 800;
  InProcessJob job(2, caller_config(), options(5));
  const auto communicators = job.communicators(no_topology);
  const auto exchange = [&](std::uint32_t messages, std::size_t bytes) {
    std::deque<Operation> sends;
    std::deque<Operation> receives;
    for (std::uint32_t i = 0; i < messages; ++i) {
      receives.push_back({communicators[1].get(), std::vector<std::byte>(bytes)});
      receive(receives.back(), {0, static_cast<Tag>(i)});
    }
    const std::uint64_t posted = job.network().sent(0).messages;
    for (std::uint32_t i = 0; i < messages; ++i) {
      sends.push_back({communicators[0].get(), data(i, bytes)});
      send(sends.back(), {1, static_cast<Tag>(i)}, i % 7 == 3 ? SendMode::synchronous : SendMode::standard);
    }
    progress_until(job, [&] {
      return std::ranges::all_of(sends, &Operation::done) && std::ranges::all_of(receives, &Operation::done);
    });
    for (std::uint32_t i = 0; i < messages; ++i) {
      sends[i].end();
      receives[i].end();
      EXPECT_TRUE(sends[i].status.ok() && receives[i].status.ok()) << i;
      EXPECT_EQ(receives[i].memory, data(i, bytes)) << i;
    }
    return job.network().sent(0).messages - posted;
  };
  static_cast<void>(exchange(1, 8));  // the ranks meet
  EXPECT_EQ(exchange(core::Bundles::kAlone, 8), static_cast<std::uint64_t>(core::Bundles::kAlone));
  const auto envelope_bytes = sizeof(core::Envelope) + 8;
  const auto of_a_bundle = core::Bundles::kMost / envelope_bytes;
  const auto bundles = (kMessages - core::Bundles::kAlone + of_a_bundle - 1) / of_a_bundle;
  EXPECT_EQ(exchange(kMessages, 8), core::Bundles::kAlone + bundles);
  expect_nothing_left(job, 2);
}

// The thread that waits may sleep until something comes, which would hold a bundle back.
TEST_P(PointToPoint, NoMessageWaitsInABundleWhileAThreadWaits) {
  constexpr std::uint32_t kMessages = 3 * core::Bundles::kAlone;
  NetworkOptions network = options(6);
  network.refused_percent = 0;
  InProcessJob job(2, caller_config(), network);
  const auto communicators = job.communicators(no_topology);
  std::deque<Operation> operations;
  const auto send_one = [&](std::uint32_t number) {
    operations.push_back({communicators[0].get(), data(number, 8)});
    send(operations.back(), {1, static_cast<Tag>(number)});
  };
  send_one(0);  // the ranks meet
  ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return operations.front().done(); }));
  const std::uint64_t sent = job.network().sent(0).messages;
  {
    const core::Driver waiting(job.context(0).engine());
    for (std::uint32_t i = 1; i <= kMessages; ++i) send_one(i);
    EXPECT_EQ(job.network().sent(0).messages - sent, kMessages);
  }
  for (std::uint32_t i = 0; i <= kMessages; ++i) {
    operations.push_back({communicators[1].get(), std::vector<std::byte>(8)});
    receive(operations.back(), {0, static_cast<Tag>(i)});
  }
  ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return std::ranges::all_of(operations, &Operation::done); }));
  for (Operation& each : operations) each.end();
  expect_nothing_left(job, 2);
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

TEST_P(PointToPoint, TooLongMessagesWriteNothing) {
  for (const std::size_t bytes : {std::size_t{100}, core::kEagerBytes + 1, std::size_t{70'000}}) {
    InProcessJob job(2, caller_config(), options(1));
    const auto communicators = job.communicators(no_topology);
    Operation sent{communicators[0].get(), data(1, bytes)};
    Operation received{communicators[1].get(), std::vector<std::byte>(bytes - 1, std::byte{0xee})};
    send(sent, {1, Tag{7}}, SendMode::synchronous);
    receive(received, {0, Tag{7}});
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return sent.done() && received.done(); }));
    sent.end();
    received.end();
    EXPECT_TRUE(sent.status.ok());
    EXPECT_EQ(received.status.errc(), Errc::truncated);
    EXPECT_THAT(received.status.message, testing::HasSubstr(std::to_string(bytes) + " bytes with tag 7"));
    EXPECT_THAT(received.memory, testing::Each(std::byte{0xee}));
    expect_nothing_left(job, 2);
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

TEST_P(PointToPoint, ReadySendsFailWithoutAReceive) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{70'000}}) {
    InProcessJob job(2, caller_config(), options(1));
    const auto communicators = job.communicators(no_topology);
    Operation unrelated{communicators[1].get(), std::vector<std::byte>(bytes)};
    receive(unrelated, {0, Tag{1}});
    Operation early{communicators[0].get(), data(1, bytes)};
    send(early, {1, Tag{0}}, SendMode::ready);
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return early.done(); }));
    early.end();
    EXPECT_EQ(early.status.errc(), Errc::mismatch);
    Operation late{communicators[0].get(), data(2, bytes)};
    send(late, {1, Tag{1}}, SendMode::ready);
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return late.done() && unrelated.done(); }));
    late.end();
    unrelated.end();
    EXPECT_TRUE(late.status.ok()) << late.status.message;
    EXPECT_EQ(unrelated.memory, data(2, bytes));
    expect_nothing_left(job, 2);
  }
}

TEST_P(PointToPoint, GivenUpOperationsHarmNoOthers) {
  const Status reason{make_error_code(Errc::timed_out), "given up"};
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const bool gives_up_send = seed % 2 == 0;
    InProcessJob job(2, caller_config(), options(seed));
    const auto communicators = job.communicators(no_topology);
    Operation sent{communicators[0].get(), data(1, 70'000)};
    Operation received{communicators[1].get(), std::vector<std::byte>(70'000, std::byte{0xee})};
    send(sent, {1, Tag{0}});
    receive(received, {0, Tag{0}});
    progress(job, static_cast<int>(seed));
    Operation& given_up = gives_up_send ? sent : received;
    {
      const core::Lock lock(given_up.communicator->engine());
      if (!given_up.done()) given_up.pending->abandon(reason);
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return received.done(); }));
    received.end();
    // A message whose receive was taken back before they met waits for another.
    progress(job, 500);
    if (!sent.done()) {
      Operation again{communicators[1].get(), std::vector<std::byte>(70'000)};
      receive(again, {0, Tag{0}});
      ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return again.done(); }));
      again.end();
      EXPECT_EQ(again.memory, data(1, 70'000));
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return sent.done(); }));
    sent.end();
    EXPECT_TRUE(!received.status.ok() || received.memory == data(1, 70'000));
    // What comes after them finds its way.
    Operation next{communicators[0].get(), data(2, 70'000)};
    Operation taken{communicators[1].get(), std::vector<std::byte>(70'000)};
    send(next, {1, Tag{1}});
    receive(taken, {0, Tag{1}});
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return next.done() && taken.done(); }));
    next.end();
    taken.end();
    EXPECT_EQ(taken.memory, data(2, 70'000));
    expect_nothing_left(job, 2);
  }
}

// Given up before, while and after its messages travel. What its partner sent to it, or has a receive for, stays.
TEST_P(PointToPoint, AGivenUpSendrecvHarmsNoOthers) {
  const Status reason{make_error_code(Errc::timed_out), "given up"};
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    InProcessJob job(2, caller_config(), options(seed));
    const auto communicators = job.communicators(no_topology);
    std::array<Operation, 2> both{Operation{communicators[0].get(), data(0, 70'000)},
                                  Operation{communicators[1].get(), data(1, 70'000)}};
    for (Rank rank = 0; rank < 2; ++rank) {
      Operation& operation = both[static_cast<std::size_t>(rank)];
      core::Communicator& communicator = *operation.communicator;
      const core::Lock lock(communicator.engine());
      operation.pending = &point_to_point(communicator)
                               .sendrecv_replace(communicator, {operation.memory.data(), operation.memory.size()},
                                                 {1 - rank, Tag{0}}, {1 - rank, Tag{0}});
      EXPECT_EQ(operation.pending->name(), "sendrecv_replace");
    }
    progress(job, static_cast<int>(seed));
    {
      const core::Lock lock(both[0].communicator->engine());
      if (!both[0].done()) {
        EXPECT_THAT(both[0].pending->describe_pending(),
                    testing::AnyOf(testing::HasSubstr("send to rank 1"), testing::HasSubstr("receive from rank 1")));
        both[0].pending->abandon(reason);
      }
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return both[0].done(); }));
    both[0].end();
    progress(job, 500);
    if (!both[1].done()) {
      const core::Lock lock(both[1].communicator->engine());
      both[1].pending->abandon(reason);
    }
    ASSERT_NO_FATAL_FAILURE(progress_until(job, [&] { return both[1].done(); }));
    both[1].end();
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      EXPECT_TRUE(!both[rank].status.ok() || both[rank].memory == data(1 - rank, 70'000)) << rank;
    const bool gave_up = !both[0].status.ok();
    EXPECT_TRUE(!gave_up || both[0].status.errc() == Errc::timed_out) << both[0].status.message;
    // The send of rank 0 was cancelled, or nothing came of it.
    if (!both[1].status.ok()) {
      EXPECT_TRUE(gave_up);
      EXPECT_THAT(both[1].status.errc(), testing::AnyOf(Errc::timed_out, Errc::cancelled));
    }
    // What is left of it meets others.
    std::array<Operation, 2> out{Operation{communicators[0].get(), data(2, 10)},
                                 Operation{communicators[1].get(), data(3, 10)}};
    std::array<Operation, 2> in{Operation{communicators[0].get(), std::vector<std::byte>(10)},
                                Operation{communicators[1].get(), std::vector<std::byte>(10)}};
    for (std::size_t rank = 0; rank < 2; ++rank) {
      send(out[rank], {static_cast<Rank>(1 - rank), Tag{1}});
      receive(in[rank], {static_cast<Rank>(1 - rank), Tag{1}});
    }
    ASSERT_NO_FATAL_FAILURE(
        progress_until(job, [&] { return out[0].done() && out[1].done() && in[0].done() && in[1].done(); }));
    for (std::size_t rank = 0; rank < 2; ++rank) {
      out[rank].end();
      in[rank].end();
      EXPECT_EQ(in[rank].memory, data(static_cast<std::uint32_t>(3 - rank), 10));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, PointToPoint, testing::Values(kDirected, kUndirected, kBlocking));

}  // namespace
}  // namespace fab::test
