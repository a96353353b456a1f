// The simulated network by itself: it is unkind, and never more than its contract allows.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>

#include "providers/sim/network.h"

namespace fab::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// An operation, its byte of memory, and how it ended.
struct Operation : Completion {
  explicit Operation(std::vector<std::uint64_t>& its_log, int value = 0)
      : Completion(
            [](Completion& self, std::uint64_t, std::uint64_t tag) noexcept {
              auto& its = static_cast<Operation&>(self);
              its.done_count++;
              its.log.push_back(tag);
            },
            [](Completion& self, const Status& status) noexcept { static_cast<Operation&>(self).failure = status; }),
        log(its_log),
        memory(static_cast<std::byte>(value)) {}
  [[nodiscard]] std::array<iovec, 1> pieces() { return {{{&memory, 1}}}; }

  std::vector<std::uint64_t>& log;
  std::byte memory;
  int done_count = 0;
  Status failure;
};

/// Two ranks; rank 0 sends, rank 1 receives.
class Pair {
 public:
  explicit Pair(const Options& options) : network(2, options), from(network.open(0)), to(network.open(1)) {
    to_handle = from->connect(to->address());
    from_handle = to->connect(from->address());
  }
  void send(std::uint64_t tag, int value) {
    Operation& operation = sends.emplace_back(sent, value);
    while (from->post_send(to_handle, operation.pieces(), tag, operation) == PostResult::again) (void)from->poll();
  }
  void receive(std::uint64_t tag, std::uint64_t ignore = 0) {
    Operation& operation = receives.emplace_back(received);
    while (to->post_recv(from_handle, operation.pieces(), tag, ignore, operation) == PostResult::again)
      (void)to->poll();
  }
  void run() {
    while (const std::optional<Rank> rank = network.advance()) (void)(*rank == 0 ? from : to)->poll();
  }

  Network network;
  std::unique_ptr<Provider> from;
  std::unique_ptr<Provider> to;
  PeerHandle to_handle = 0;
  PeerHandle from_handle = 0;
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> received;  ///< tags, in the order of completion
  std::deque<Operation> sends;
  std::deque<Operation> receives;
};

constexpr int kMessages = 20;
constexpr std::uint64_t kAnyTag = ~0ull;

Options unkind() {
  Options options = adversarial(7);
  options.capabilities.inject_bytes = 0;
  options.capabilities.writes = true;
  return options;
}

/// Whose data each receive got, in the order of the receives.
std::vector<int> values(const Pair& pair) {
  std::vector<int> result;
  for (const Operation& operation : pair.receives) result.push_back(static_cast<int>(operation.memory));
  return result;
}

std::vector<int> ascending() {
  std::vector<int> result(kMessages);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

TEST(SimulatedNetwork, MessagesOvertakeEachOther) {
  for (const bool ordered : {false, true}) {
    Options options = unkind();
    options.ordered = ordered;
    Pair pair(options);
    for (int i = 0; i < kMessages; ++i) {
      pair.receive(0, kAnyTag);
      pair.send(static_cast<std::uint64_t>(i), i);
    }
    pair.run();
    std::vector<int> got = values(pair);
    EXPECT_EQ(got == ascending(), ordered);
    EXPECT_FALSE(std::ranges::is_sorted(pair.received)) << "completions come in any order even so";
    std::ranges::sort(got);
    EXPECT_EQ(got, ascending()) << "each once";
    EXPECT_EQ(pair.sent.size(), static_cast<std::size_t>(kMessages));
    EXPECT_EQ(pair.network.left_over(), 0u);
    EXPECT_GT(pair.network.refusals(), 0u);
  }
}

TEST(SimulatedNetwork, MessagesOfOneTagKeepTheirOrder) {
  Pair pair(unkind());
  for (int i = 0; i < kMessages; ++i) pair.send(3, i);
  for (int i = 0; i < kMessages; ++i) pair.receive(3);
  pair.run();
  EXPECT_EQ(values(pair), ascending());
}

TEST(SimulatedNetwork, SendBuffersAreReadLate) {
  Options options = unkind();
  for (const std::uint64_t eager_bytes : {0u, 1u}) {
    options.model.eager_bytes = eager_bytes;
    Pair pair(options);
    pair.send(1, 1);
    pair.run();
    EXPECT_EQ(pair.sends[0].done_count, eager_bytes == 0 ? 0 : 1);
    pair.sends[0].memory = std::byte{2};
    pair.receive(1);
    pair.run();
    EXPECT_EQ(pair.sends[0].done_count, 1);
    EXPECT_EQ(values(pair), std::vector{eager_bytes == 0 ? 2 : 1});
  }
}

// A message without a receive lets none of its sender's pass.
TEST(SimulatedNetwork, EarlyMessagesBlockWhereTheyDo) {
  for (const bool blocking : {false, true}) {
    Options options;
    options.capabilities.early_messages_block = blocking;
    Pair pair(options);
    for (int i = 0; i < 3; ++i) pair.send(static_cast<std::uint64_t>(i), i);
    pair.receive(2);
    pair.receive(1);
    pair.run();
    EXPECT_EQ(pair.received.size(), blocking ? 0u : 2u);
    pair.receive(0);
    pair.run();
    EXPECT_EQ(values(pair), (std::vector{2, 1, 0}));
    EXPECT_EQ(pair.received.size(), 3u);
  }
}

/// Hears of writes.
struct Listener final : WriteListener {
  void written(std::uint32_t data) noexcept override { heard.push_back(data); }
  std::vector<std::uint32_t> heard;
};

TEST(SimulatedNetwork, WritesOvertakeEachOther) {
  Pair pair(unkind());
  Listener listener;
  pair.to->set_listener(&listener);
  std::array<std::byte, kMessages> target{};
  const auto exposed = pair.to->expose(target);
  std::deque<Operation> writes;
  for (int i = 0; i < kMessages; ++i) {
    Operation& write = writes.emplace_back(pair.sent, i + 1);
    const auto source = pair.from->prepare_source(write.pieces());
    const RemoteMemory place = exposed->remote().behind(static_cast<std::uint64_t>(i));
    while (pair.from->post_write(pair.to_handle, write.pieces(), *source, place, static_cast<std::uint32_t>(i),
                                 write) == PostResult::again)
      (void)pair.from->poll();
  }
  pair.run();
  EXPECT_FALSE(std::ranges::is_sorted(listener.heard));
  EXPECT_EQ(listener.heard.size(), target.size());
  for (int i = 0; i < kMessages; ++i) EXPECT_EQ(target[static_cast<std::size_t>(i)], static_cast<std::byte>(i + 1));
  EXPECT_EQ(pair.network.sent(0).writes, static_cast<std::uint64_t>(kMessages));
}

TEST(SimulatedNetwork, WritesNeedExposedMemory) {
  Options options;
  options.capabilities.writes = true;
  Pair pair(options);
  std::array<std::byte, 4> target{};
  auto exposed = pair.to->expose(target);
  const RemoteMemory place = exposed->remote();
  const auto write = [&](const RemoteMemory& to) {
    Operation operation(pair.sent, 9);
    const auto source = pair.from->prepare_source(operation.pieces());
    EXPECT_EQ(pair.from->post_write(pair.to_handle, operation.pieces(), *source, to, 0, operation),
              PostResult::pending);
    pair.run();
    return operation.failure;
  };
  Listener listener;
  pair.to->set_listener(&listener);
  EXPECT_TRUE(write(place.behind(3)).ok());
  EXPECT_EQ(write(place.behind(4)).errc(), Errc::transport);
  exposed.reset();
  EXPECT_EQ(write(place).errc(), Errc::transport);
  EXPECT_THAT(target, ElementsAre(std::byte{0}, std::byte{0}, std::byte{0}, std::byte{9}));
}

TEST(SimulatedNetwork, ReceivesCanBeTakenBack) {
  Pair pair(unkind());
  pair.receive(1);
  pair.to->cancel(pair.receives[0]);
  pair.run();
  EXPECT_EQ(pair.receives[0].failure.errc(), Errc::cancelled);
  pair.send(1, 5);
  pair.receive(1);
  pair.run();
  EXPECT_EQ(pair.receives[0].memory, std::byte{0});
  EXPECT_EQ(pair.receives[1].memory, std::byte{5});
}

TEST(SimulatedNetwork, WhatCapabilitiesForbidIsNoted) {
  Options options;
  options.capabilities.iov_limit = 1;
  options.capabilities.tag_mask = 0xff;
  options.capabilities.takes_longer_messages = false;
  Pair pair(options);
  std::array<std::byte, 2> bytes{};
  const std::array<iovec, 2> two{{{&bytes[0], 1}, {&bytes[1], 1}}};
  Operation send(pair.sent);
  EXPECT_THAT(pair.network.violations(), IsEmpty());
  (void)pair.from->post_send(pair.to_handle, two, 0x100, send);
  pair.receive(0x100);
  pair.run();
  const auto violations = pair.network.violations();
  ASSERT_EQ(violations.size(), 4u);
  EXPECT_THAT(violations[0], HasSubstr("rank 0: a post of 2 pieces, where 1 are possible"));
  EXPECT_THAT(violations[1], HasSubstr("rank 0: a tag 0x100, of which only 0xff travels"));
  EXPECT_THAT(violations[2], HasSubstr("rank 1: a tag 0x100"));
  EXPECT_THAT(violations[3], HasSubstr("rank 1: 2 bytes from rank 0 for a receive of 1"));
  EXPECT_EQ(pair.receives[0].failure.errc(), Errc::truncated);
}

TEST(SimulatedNetwork, AbsentRanksAreNamed) {
  EXPECT_THROW(Network(2, Options{.deaths = {{.rank = 2}}}), Error);
  Pair pair{Options{}};
  EXPECT_THROW((void)pair.from->connect("2"), Error);
}

}  // namespace
}  // namespace fab::sim
