// By which ways the messages of each operation left, to the last message, within a node and over networks.
#include <gmock/gmock.h>

#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fab/fab.h"
#include "fab/statistics.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

constexpr std::size_t kShort = 8;
constexpr std::size_t kMiddle = 8000;  // copied into the ring; over networks one part
constexpr std::size_t kLong = 400'000;
constexpr std::uint64_t kPartsOfLong = 3;   // over networks: 64 KiB, 256 KiB and the rest
constexpr std::uint64_t kWritesOfLong = 3;  // of 128 KiB and a little more
constexpr int kCalls = 7;

using Ways = std::map<std::string, MessageAmounts>;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}
bool over_network() { return variable("FAB_LOCAL") == "off"; }
bool one_sided() { return variable("FAB_ONE_SIDED") == "on"; }

class WaysOfOperations : public test::OnAllRanks {
 protected:
  /// Each rank sends to the next one, and to no other.
  static Communicator one_way() {
    if (size() == 1) return world().distributed_graph({}, {});
    return world().distributed_graph({previous()}, {next()});
  }
  static std::size_t edges() { return size() == 1 ? 0 : 1; }

  /// What those calls add to the ways of an operation. Its sent bytes are those of its ways, less those of `credits`.
  template <class Call>
  static Ways added_to(const std::string& operation, Call&& call, std::uint64_t credits = 0) {
    const StatisticsByWay before = context().statistics_by_way();
    for (int i = 0; i < kCalls; ++i) call();
    const StatisticsByWay after = context().statistics_by_way();
    Ways added;
    for (const WayStatistics& way : after.ways_of(operation)) added[way.way] = way.sent;
    for (const WayStatistics& way : before.ways_of(operation)) {
      added[way.way].messages -= way.sent.messages;
      added[way.way].bytes -= way.sent.bytes;
    }
    std::erase_if(added, [](const auto& way) { return way.second == MessageAmounts{}; });
    std::uint64_t bytes = 0;
    for (const auto& [way, sent] : added) bytes += sent.bytes;
    EXPECT_EQ(bytes - credits, sent_bytes(after, operation) - sent_bytes(before, operation));
    return added;
  }
  static std::uint64_t sent_bytes(const Statistics& statistics, const std::string& operation) {
    std::uint64_t bytes = 0;
    for (const OperationStatistics& each : statistics.operations)
      if (each.operation == operation) bytes += each.sent.bytes;
    return bytes;
  }
  static Ways of_peers(const Statistics& statistics) {
    Ways sums;
    for (const PeerStatistics& peer : statistics.peers)
      for (const WayStatistics& way : peer.ways) sums[way.way].add(way.sent);
    return sums;
  }
  static Ways of_operations(const StatisticsByWay& statistics) {
    Ways sums;
    for (const auto& ways : statistics.operation_ways)
      for (const WayStatistics& way : ways) sums[way.way].add(way.sent);
    return sums;
  }
  static std::uint64_t calls() { return size() == 1 ? 0 : kCalls; }
  /// Of `messages` with `bytes` together in each call; none in a job of one rank.
  static Ways expect(const std::string& way, std::uint64_t messages, std::uint64_t bytes) {
    if (size() == 1) return {};
    return {{way, {calls() * messages, calls() * bytes}}};
  }
  /// Of a long message in ordinary memory, within a node.
  static std::string long_way() { return variable("FAB_LOCAL_LONG") == "ring" ? "chunks" : "kernel"; }

  static Ways exchange(std::span<const std::byte> send, std::span<std::byte> recv) {
    const Communicator graph = one_way();
    return added_to("neighbor_xchg", [&] {
      neighbor_xchg(graph, send.first(edges() * send.size()), recv.first(edges() * recv.size()));
    });
  }
  static Ways exchange(std::size_t bytes) {
    const std::vector<std::byte> send(bytes);
    std::vector<std::byte> recv(bytes);
    return exchange(send, recv);
  }
  static Ways exchange_persistently(std::size_t bytes, std::uint64_t credits) {
    const std::vector<std::byte> send(edges() * bytes);
    std::vector<std::byte> recv(edges() * bytes);
    const Communicator graph = one_way();
    PersistentExchange persistent = neighbor_xchg.persistent(graph, send, recv);
    // The ranks tell each other where to write before the first start.
    persistent.start();
    persistent.wait();
    return added_to(
        "neighbor_xchg",
        [&] {
          persistent.start();
          persistent.wait();
        },
        calls() * credits);
  }
};

TEST_F(WaysOfOperations, OfShortMessages) {
  EXPECT_EQ(exchange(kShort), expect(over_network() ? "tagged" : "cell", 1, kShort));
}

TEST_F(WaysOfOperations, OfMiddleMessages) {
  const bool reads_all = variable("FAB_LOCAL_LONG") == "read";
  EXPECT_EQ(exchange(kMiddle), expect(over_network() ? "tagged" : reads_all ? "kernel" : "ring", 1, kMiddle));
}

/// Each rank sends the same block to all others, in one round.
TEST_F(WaysOfOperations, OfTheSameToAllOthers) {
  std::vector<Rank> others;
  for (Rank rank = 0; rank < size(); ++rank)
    if (rank != world().rank()) others.push_back(rank);
  const Communicator graph = world().distributed_graph(others, others);
  const std::vector<std::byte> send(kMiddle);
  std::vector<std::byte> recv(others.size() * kMiddle);
  const bool reads_all = variable("FAB_LOCAL_LONG") == "read";
  const std::string within = reads_all ? "kernel" : others.size() > 1 ? "shared" : "ring";
  EXPECT_EQ(added_to("neighbor_allgather", [&] { neighbor_allgather(graph, send, recv); }),
            expect(over_network() ? "tagged" : within, others.size(), others.size() * kMiddle));
}

/// Those in parts have a frame: added_to() has compared the bytes.
TEST_F(WaysOfOperations, OfLongMessages) {
  Ways ways = exchange(kLong);
  if (over_network()) {
    EXPECT_EQ(ways.size(), edges());
    EXPECT_EQ(ways["tagged"].messages, calls() * kPartsOfLong);
  } else {
    EXPECT_EQ(ways, expect(long_way(), 1, kLong));
  }
}

TEST_F(WaysOfOperations, OfLongMessagesInMemoryOfFabs) {
  if (over_network()) GTEST_SKIP() << "it is ordinary memory there";
  const Array<std::byte> send = make_array<std::byte>(kLong);
  Array<std::byte> recv = make_array<std::byte>(kLong);
  const std::string way = variable("FAB_LOCAL_LONG").empty() ? "mapped" : long_way();
  EXPECT_EQ(exchange(send, recv), expect(way, 1, kLong));
}

TEST_F(WaysOfOperations, OfPersistentExchanges) {
  if (!one_sided()) {
    EXPECT_EQ(exchange_persistently(kShort, 0), expect(over_network() ? "tagged" : "cell", 1, kShort));
    return;
  }
  // A message back is leave to write again where there is one.
  const std::uint64_t credits = size() == 2 ? 0 : 1;
  EXPECT_EQ(exchange_persistently(kShort, credits), expect("written", 1 + credits, kShort + credits));
  EXPECT_EQ(exchange_persistently(kLong, 1), expect("written", kWritesOfLong + 1, kLong + 1));
}

/// No more and no less than what the providers have counted by peer, in a context that has sent exchanges alone.
TEST_F(WaysOfOperations, AreThoseToAllPeers) {
  const StatisticsByWay statistics = context().statistics_by_way();
  EXPECT_EQ(statistics.operation_ways.size(), statistics.operations.size());
  EXPECT_EQ(of_peers(statistics), of_operations(statistics));
  for (const auto& [way, sent] : of_operations(statistics))
    EXPECT_THAT(statistics.json(), testing::HasSubstr("\"ways\":[{\"way\":\"" + way + "\",\"messages\":"));
}

/// Long ones count where their bytes leave, not where they are announced.
TEST_F(WaysOfOperations, OfSendsFromRankToRank) {
  if (size() == 1) GTEST_SKIP() << "a message to its own rank takes no way";
  const std::size_t envelope = over_network() ? 48 : 24;  // within a node short messages have brief ones
  for (const std::size_t bytes : {kShort, kLong}) {
    const std::vector<std::byte> sent(bytes);
    std::vector<std::byte> received(bytes);
    const auto pass_on = [&] {
      Request receive = irecv(world(), received, {previous()});
      send(world(), sent, {next()});
      receive.wait();
    };
    const bool eager = bytes == kShort;
    const std::uint64_t envelopes = eager ? kCalls * envelope : 0;
    const std::string way = over_network() ? "tagged" : eager ? "cell" : long_way();
    EXPECT_EQ(added_to("send", pass_on, envelopes), expect(way, 1, bytes + (eager ? envelope : 0)));
  }
}

}  // namespace
}  // namespace fab
