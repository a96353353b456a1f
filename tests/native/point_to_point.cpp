// Messages between ranks under mpirun, without MPI in the process.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"
#include "support/comes_true.h"
#include "support/message_of.h"
#include "support/peek.h"
#include "unit/support/allocation_count.h"

namespace fab {
namespace {

using PointToPoint = test::OnAllRanks;

/// Every byte tells who sent which message.
std::vector<int> numbers(int sender, int message, std::size_t count) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), sender * 1'000'000 + message * 10'000);
  return result;
}

// Lang, Distributed-Memory Programming Models II, 2015: "Hello World".
TEST_F(PointToPoint, EveryRankGreetsRank0) {
  if (rank() != 0) {
    const std::string greeting = "I am process " + std::to_string(rank());
    send(world(), greeting, {0, Tag{50}});
    return;
  }
  for (Rank source = 1; source < size(); ++source) {
    std::array<char, 100> text{};
    const MessageInfo message = recv(world(), text, {source, Tag{50}});
    EXPECT_EQ(std::string(text.data(), message.count<char>()), "I am process " + std::to_string(source));
  }
}

// The same, "All-to-all: 1D Array": black ranks receive first, white ones send first, all synchronously.
// MPI-4.1, 3.9: a persistent receive may take what no persistent send has sent, and the other way round.
TEST_F(PointToPoint, PersistentMessagesGoEachTimeTheyAreStarted) {
  const std::size_t count = 1000;
  std::vector<int> out(count);
  std::vector<int> in(count);
  PersistentMessage sending = persistent_send(world(), out, {next(), Tag{61}});
  PersistentMessage receiving = persistent_recv(world(), in, {previous(), Tag{61}});
  EXPECT_FALSE(sending.active());
  for (int round = 0; round < 20; ++round) {
    std::ranges::copy(numbers(rank(), round, count), out.begin());
    receiving.start();
    EXPECT_TRUE(receiving.active());
    if (round % 3 == 1)
      send(world(), out, {next(), Tag{61}}, SendMode::buffered);
    else
      sending.start();
    if (round % 2 == 0)
      receiving.wait();
    else
      ASSERT_TRUE(test::comes_true([&] { return receiving.test(); }));
    EXPECT_EQ(in, numbers(previous(), round, count));
    EXPECT_EQ(receiving.message(), (MessageInfo{previous(), Tag{61}, count * sizeof(int)}));
    sending.wait();
    EXPECT_FALSE(sending.active() || receiving.active());
  }
  PersistentMessage moved = std::move(receiving);
  moved.start();
  EXPECT_FALSE(moved.wait_for(std::chrono::milliseconds(1)));
  moved.cancel();
  EXPECT_EQ(moved.wait_status().errc(), Errc::cancelled);
}

// Short ones travel with their envelope, long ones behind it. Ranks exchange in pairs, and the receive of the next
// round waits before this round's message leaves: what comes before its receive is kept, which takes memory.
TEST_F(PointToPoint, PersistentMessagesAllocateNothingWhenStartedAgain) {
  const char* local = std::getenv("FAB_LOCAL");
  if (local == nullptr || std::string_view(local) != "on") GTEST_SKIP() << "a matter of the provider";
  const Rank partner = (rank() ^ 1) < size() ? rank() ^ 1 : rank();
  for (const std::size_t count : {8u, 10'000u}) {
    const std::vector<int> out = numbers(rank(), 0, count);
    std::array<std::vector<int>, 2> in{std::vector<int>(count), std::vector<int>(count)};
    PersistentMessage sending = persistent_send(world(), out, {partner, Tag{63}});
    std::array<PersistentMessage, 2> receiving{persistent_recv(world(), in[0], {partner, Tag{63}}),
                                               persistent_recv(world(), in[1], {partner, Tag{63}})};
    receiving[0].start();
    barrier(world());
    const auto rounds = [&](int number) {
      for (int round = 0; round < number; ++round) {
        receiving[static_cast<std::size_t>((round + 1) % 2)].start();
        sending.start();
        sending.wait();
        receiving[static_cast<std::size_t>(round % 2)].wait();
      }
    };
    rounds(4);
    EXPECT_EQ(test::fewest_allocations([&] { rounds(20); }), 0u) << count << " ints";
    for (const std::vector<int>& message : in) EXPECT_EQ(message, numbers(partner, 0, count));
    receiving[0].cancel();
    EXPECT_EQ(receiving[0].wait_status().errc(), Errc::cancelled);
  }
}

TEST_F(PointToPoint, PersistentMessagesSayWhatTheyDoNotTake) {
  std::array<int, 2> value{};
  EXPECT_THAT(test::message_of([&] {
                static_cast<void>(persistent_send(world(), value, {size(), Tag{0}}));
              }),
              testing::HasSubstr("persistent_send: to.rank is " + std::to_string(size())));
  EXPECT_THAT(test::message_of([&] {
                static_cast<void>(persistent_recv(world(), value, {0, Tag{-7}}));
              }),
              testing::HasSubstr("persistent_recv: from.tag is -7"));
  PersistentMessage none;
  EXPECT_THAT(test::message_of([&] { none.start(); }), testing::HasSubstr("holds no message"));
  EXPECT_EQ(none.try_start().errc(), Errc::invalid_argument);
  EXPECT_TRUE(none.test());
  PersistentMessage receiving = persistent_recv(world(), value, {rank(), Tag{62}});
  receiving.start();
  EXPECT_THAT(test::message_of([&] { receiving.start(); }), testing::HasSubstr("active already"));
  send(world(), value, {rank(), Tag{62}}, SendMode::buffered);
  receiving.wait();
  PersistentMessage to_no_rank = persistent_send(world(), value, {kNoRank, Tag{0}});
  to_no_rank.start();
  to_no_rank.wait();
}

TEST_F(PointToPoint, BlackAndWhiteRanksExchangeAlongAnArray) {
  for (const std::size_t count : {1u, 1000u, 50'000u}) {
    std::vector<std::vector<int>> all(static_cast<std::size_t>(size()), std::vector<int>(count));
    all[static_cast<std::size_t>(rank())] = numbers(rank(), 0, count);
    const auto message = [&](int of) -> std::vector<int>& { return all[static_cast<std::size_t>(of)]; };
    const auto pass = [&](int of, Rank to) {
      if (of >= 0 && of < size() && to >= 0 && to < size())
        send(world(), std::span<const int>(message(of)), {to, Tag{of}}, SendMode::synchronous);
    };
    const auto take = [&](int of, Rank from) {
      if (of >= 0 && of < size()) recv(world(), std::span<int>(message(of)), {from, Tag{of}});
    };
    for (int step = 0; step + 1 < size(); ++step) {
      const int from_left = rank() - 1 - step;
      const int from_right = rank() + 1 + step;
      const int to_right = rank() - step;
      const int to_left = rank() + step;
      if (rank() % 2 == 1) {
        take(from_left, rank() - 1);
        pass(to_right, rank() + 1);
        take(from_right, rank() + 1);
        pass(to_left, rank() - 1);
      } else {
        pass(to_right, rank() + 1);
        take(from_left, rank() - 1);
        pass(to_left, rank() - 1);
        take(from_right, rank() + 1);
      }
    }
    for (int of = 0; of < size(); ++of) ASSERT_EQ(message(of), numbers(of, 0, count)) << "from " << of;
  }
}

TEST_F(PointToPoint, RingsPassOn) {
  for (const std::size_t count : {1u, 1000u, 100'000u}) {
    std::vector<int> mine = numbers(rank(), 1, count);
    std::vector<int> theirs(count);
    const MessageInfo message = sendrecv(world(), mine, {next(), Tag{3}}, theirs, {previous(), Tag{3}});
    EXPECT_EQ(message, (MessageInfo{previous(), Tag{3}, count * sizeof(int)}));
    EXPECT_EQ(theirs, numbers(previous(), 1, count));
    for (int step = 0; step < size(); ++step)
      sendrecv_replace(world(), mine, {next(), Tag{step}}, {previous(), Tag{step}});
    EXPECT_EQ(mine, numbers(rank(), 1, count)) << "once round";
  }
}

TEST_F(PointToPoint, RingsPassOnWhileTheCallerGoesItsWay) {
  constexpr std::size_t kAtOnce = 4;
  for (const std::size_t count : {1u, 1000u, 100'000u}) {
    std::array<std::vector<int>, kAtOnce> mine;
    std::array<std::vector<int>, kAtOnce> theirs;
    std::vector<Request> all;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      mine[i] = numbers(rank(), static_cast<int>(i), count);
      theirs[i].resize(count);
      const Tag tag{static_cast<int>(i)};
      if (i % 2 == 0)
        all.push_back(isendrecv(world(), mine[i], {next(), tag}, theirs[i], {previous(), tag}));
      else
        all.push_back(isendrecv_replace(world(), mine[i], {next(), tag}, {previous(), tag}));
    }
    while (!Request::test_all(all)) {
    }
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      EXPECT_EQ(all[i].message(), (MessageInfo{previous(), Tag{static_cast<int>(i)}, count * sizeof(int)}));
      EXPECT_EQ(i % 2 == 0 ? theirs[i] : mine[i], numbers(previous(), static_cast<int>(i), count));
    }
  }
}

TEST_F(PointToPoint, RingsPassOnEachTimeTheyAreStarted) {
  std::vector<int> passed = numbers(rank(), 1, 30'000);
  std::vector<int> out(8);
  std::vector<int> in(8);
  PersistentMessage passing = persistent_sendrecv_replace(world(), passed, {next(), Tag{70}}, {previous(), Tag{70}});
  PersistentMessage exchanging = persistent_sendrecv(world(), out, {next(), Tag{71}}, in, {previous(), Tag{71}});
  for (int round = 0; round < size(); ++round) {
    std::ranges::copy(numbers(rank(), round, out.size()), out.begin());
    passing.start();
    exchanging.start();
    exchanging.wait();
    passing.wait();
    EXPECT_EQ(in, numbers(previous(), round, in.size()));
    EXPECT_EQ(exchanging.message(), (MessageInfo{previous(), Tag{71}, in.size() * sizeof(int)}));
  }
  EXPECT_EQ(passed, numbers(rank(), 1, passed.size())) << "once round";
}

TEST_F(PointToPoint, AHalfOfASendrecvMayBeMissing) {
  std::array<int, 1> out{rank()};
  std::array<int, 1> in{-1};
  const bool first = rank() == 0;
  const bool last = rank() + 1 == size();
  Request along =
      isendrecv(world(), out, {last ? kNoRank : next(), Tag{5}}, in, {first ? kNoRank : previous(), Tag{5}});
  along.wait();
  EXPECT_EQ(in[0], first ? -1 : previous());
  EXPECT_EQ(along.message(), (first ? MessageInfo{} : MessageInfo{previous(), Tag{5}, sizeof(int)}));
  EXPECT_FALSE(isendrecv(world(), out, {}, in, {kNoRank}).active());
  EXPECT_FALSE(isendrecv_replace(world(), out, {}, {kNoRank}).active());
  EXPECT_EQ(sendrecv_replace(world(), out, {}, {kNoRank}), MessageInfo{});
}

TEST_F(PointToPoint, ASendrecvIsCompleteWhenBothOfItsMessagesAre) {
  const std::vector<int> out = numbers(rank(), 0, 50'000);
  std::vector<int> in(out.size());
  std::vector<int> late(out.size());
  barrier(world());
  // The receive is complete, the send is not: no rank has a receive for it yet.
  Request sent_early = isend(world(), out, {next(), Tag{6}}, SendMode::buffered);
  Request both = isendrecv(world(), out, {next(), Tag{7}}, in, {previous(), Tag{6}});
  ASSERT_TRUE(
      test::comes_true([&] { return both.done() || test::peek(in.back()) == numbers(previous(), 0, 50'000).back(); }));
  EXPECT_FALSE(both.wait_for(std::chrono::milliseconds(2)));
  EXPECT_TRUE(both.active());
  barrier(world());
  recv(world(), late, {previous(), Tag{7}});
  both.wait();
  sent_early.wait();
  EXPECT_EQ(in, numbers(previous(), 0, in.size()));
  EXPECT_EQ(late, in);
}

TEST_F(PointToPoint, ASendrecvThatWasDetachedGoesOn) {
  const std::vector<int> out = numbers(rank(), 0, 50'000);
  std::vector<int> in(out.size());
  isendrecv(world(), out, {next(), Tag{8}}, in, {previous(), Tag{8}}).detach();
  const int last = numbers(previous(), 0, 50'000).back();
  EXPECT_TRUE(test::comes_true([&] { return test::peek(in.back()) == last; }));
  barrier(world());
}

TEST_F(PointToPoint, ASendrecvFailsAsItsReceiveDoes) {
  const std::array<int, 3> out{1, 2, 3};
  std::array<int, 2> in{-1, -1};
  Request both = isendrecv(world(), out, {next(), Tag{9}}, in, {previous(), Tag{9}});
  EXPECT_EQ(both.wait_status().errc(), Errc::truncated);
  EXPECT_EQ(in, (std::array<int, 2>{-1, -1}));
  EXPECT_THAT(test::message_of([&] { static_cast<void>(isendrecv(world(), out, {size()}, in, {0})); }),
              testing::HasSubstr("isendrecv: to.rank is " + std::to_string(size())));
  EXPECT_THAT(test::message_of([&] { static_cast<void>(isendrecv_replace(world(), in, {0}, {-7})); }),
              testing::HasSubstr("isendrecv_replace: from.rank is -7"));
  EXPECT_THAT(test::message_of([&] {
                static_cast<void>(persistent_sendrecv(world(), out, {0, Tag{-2}}, in, {0}));
              }),
              testing::HasSubstr("persistent_sendrecv: to.tag is -2"));
  EXPECT_EQ(try_isendrecv(world(), out, {size()}, in, {0}).status().errc(), Errc::invalid_rank);
  EXPECT_EQ(try_isendrecv_replace(world(), in, {size()}, {0}).status().errc(), Errc::invalid_rank);
}

TEST_F(PointToPoint, AnySourceAndAnyTag) {
  constexpr int kMessages = 40;
  constexpr std::array<std::size_t, 4> kCounts{1, 900, 1100, 30'000};
  std::vector<std::vector<int>> out;
  std::vector<Request> sends;
  for (int i = 0; i < kMessages; ++i) {
    out.push_back(numbers(rank(), i, kCounts[static_cast<std::size_t>(i) % kCounts.size()]));
    sends.push_back(isend(world(), out.back(), {(rank() + i) % size(), Tag{i}}));
  }
  std::vector<int> in(30'000);
  std::vector<Tag> last(static_cast<std::size_t>(size()), kAnyTag);
  int expected = 0;
  for (Rank source = 0; source < size(); ++source)
    for (int i = 0; i < kMessages; ++i) expected += (source + i) % size() == rank() ? 1 : 0;
  for (int i = 0; i < expected; ++i) {
    const bool probes = i % 3 == 0;
    const MessageInfo found = probes ? probe(world()) : MessageInfo{};
    const MessageInfo message = recv(world(), in, probes ? Source{found.source, found.tag} : Source{});
    EXPECT_TRUE(!probes || message == found);
    ASSERT_TRUE(message.source >= 0 && message.source < size());
    EXPECT_GT(message.tag, last[static_cast<std::size_t>(message.source)]) << "overtaken";
    last[static_cast<std::size_t>(message.source)] = message.tag;
    const std::vector<int> sent = numbers(message.source, static_cast<int>(message.tag),
                                          kCounts[static_cast<std::size_t>(message.tag) % kCounts.size()]);
    ASSERT_EQ(message.count<int>(), sent.size());
    ASSERT_TRUE(std::equal(sent.begin(), sent.end(), in.begin()));
  }
  Request::wait_all(sends);
  barrier(world());  // a rank that is late takes no message of what follows
}

TEST_F(PointToPoint, ProbesSeeWithoutTaking) {
  EXPECT_EQ(iprobe(world(), {rank(), Tag{109}}), std::nullopt);
  const std::vector<int> out = numbers(rank(), 2, 10);
  send(world(), out, {next(), Tag{109}}, SendMode::buffered);
  while (!iprobe(world(), {kAnySource, Tag{109}})) {
  }
  const MessageInfo found = probe(world(), {previous(), Tag{109}});
  EXPECT_EQ(found, (MessageInfo{previous(), Tag{109}, 40}));
  std::vector<int> in(found.count<int>());
  recv(world(), in, {found.source, found.tag});
  EXPECT_EQ(in, numbers(previous(), 2, 10));
  EXPECT_EQ(iprobe(world(), {kAnySource, Tag{109}}), std::nullopt);
}

TEST_F(PointToPoint, WaitsAndTestsOfMany) {
  constexpr std::size_t kCount = 20;
  std::vector<std::vector<int>> in(kCount, std::vector<int>(2000));
  std::vector<Request> receives;
  for (std::size_t i = 0; i < kCount; ++i) receives.push_back(irecv(world(), in[i], {previous(), static_cast<Tag>(i)}));
  std::vector<std::vector<int>> out;
  std::vector<Request> sends;
  for (std::size_t i = 0; i < kCount; ++i) {
    out.push_back(numbers(rank(), static_cast<int>(i), i % 2 == 0 ? 10 : 2000));
    sends.push_back(isend(world(), out[i], {next(), static_cast<Tag>(i)}));
  }
  std::size_t left = kCount;
  Request::wait_any(receives);
  --left;
  left -= Request::wait_some(receives).size();
  if (left > 0) {
    while (!Request::test_any(receives)) {
    }
    --left;
  }
  if (left > 0) left -= Request::test_some(receives).size();
  while (!Request::test_all(receives)) {
  }
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(receives, &Request::active)), 0u);
  Request::wait_all(sends);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::vector<int> sent = numbers(previous(), static_cast<int>(i), i % 2 == 0 ? 10 : 2000);
    EXPECT_EQ(receives[i].message(), (MessageInfo{previous(), static_cast<Tag>(i), sent.size() * sizeof(int)}));
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), in[i].begin())) << i;
  }
  EXPECT_THROW(Request::wait_any(receives), Error);
}

TEST_F(PointToPoint, FacesOfABlock) {
  constexpr std::size_t n = 60;
  const std::vector<std::size_t> sizes{n, n, n};
  const auto face = [&](std::size_t x) {
    const std::vector<std::size_t> subsizes{n, n, 1};
    const std::vector<std::size_t> starts{0, 0, x};
    return Layout::subarray(sizes, subsizes, starts, Layout::contiguous(sizeof(int)));
  };
  std::vector<int> cube(n * n * n, rank());
  sendrecv(world(), cube.data(), face(n - 2), {next()}, cube.data(), face(0), {previous()});
  for (std::size_t i = 0; i < cube.size(); ++i) ASSERT_EQ(cube[i], i % n == 0 ? previous() : rank()) << i;
  // Less than the layout has room for fills its first places.
  const std::vector<int> few = numbers(rank(), 0, 70);
  const MessageInfo message = [&] {
    Request sent = isend(world(), few, {next()});
    const MessageInfo received = recv(world(), cube.data(), face(1), {previous()});
    sent.wait();
    return received;
  }();
  EXPECT_EQ(message.count<int>(), few.size());
  const std::vector<int> theirs = numbers(previous(), 0, 70);
  for (std::size_t i = 0; i < n * n; ++i) ASSERT_EQ(cube[i * n + 1], i < 70 ? theirs[i] : rank()) << i;
}

TEST_F(PointToPoint, LongMessagesComeWithoutCalls) {
  const std::vector<int> out = numbers(rank(), 0, 200'000);
  std::vector<int> in(out.size(), -1);
  Request receive = irecv(world(), in, {previous(), Tag{1}});
  Request sent = isend(world(), out, {next(), Tag{1}});
  const int last = numbers(previous(), 0, 200'000).back();
  EXPECT_TRUE(test::comes_true([&] { return test::peek(in.back()) == last; }));
  sent.wait();
  receive.wait();
}

TEST_F(PointToPoint, NoRankBeyondTheBorder) {
  std::array<int, 1> value{7};
  send(world(), value, {kNoRank, Tag{1}});
  EXPECT_EQ(recv(world(), value, {kNoRank}), MessageInfo{});
  EXPECT_EQ(value[0], 7);
  Request none = irecv(world(), value, {kNoRank});
  none.wait();
  EXPECT_EQ(none.message(), MessageInfo{});
}

TEST_F(PointToPoint, CommunicatorsAndExchangesKeepApart) {
  const Communicator other = ring();
  std::array<int, 1> first{-1};
  std::array<int, 1> second{-1};
  Request of_world = irecv(world(), first);
  Request of_other = irecv(other, second);
  const std::array<int, 1> one{1};
  const std::array<int, 1> two{2};
  const std::array<int, 2> blocks{rank(), rank()};
  std::array<int, 2> exchanged{-1, -1};
  Request exchange = neighbor_xchg.start(other, blocks, exchanged);
  send(other, two, {next(), Tag{0}});
  send(world(), one, {next(), Tag{0}});
  std::array<Request, 3> all{std::move(exchange), std::move(of_world), std::move(of_other)};
  Request::wait_all(all);
  EXPECT_EQ(first[0], 1);
  EXPECT_EQ(second[0], 2);
  EXPECT_EQ(exchanged, (std::array<int, 2>{next(), previous()}));
}

TEST_F(PointToPoint, ErrorsNameCallArgumentAndValue) {
  std::array<int, 1> value{};
  EXPECT_THAT(test::message_of([&] {
                send(world(), value, {size(), Tag{0}});
              }),
              testing::HasSubstr("send: to.rank is " + std::to_string(size())));
  EXPECT_THAT(test::message_of([&] { send(world(), value, {0, Tag{-1}}); }), testing::HasSubstr("send: to.tag is -1"));
  EXPECT_THAT(test::message_of([&] { recv(world(), value, {-7}); }), testing::HasSubstr("recv: from.rank is -7"));
  // More than there is room for.
  const std::array<int, 2> two{};
  Request sent = isend(world(), two, {next(), Tag{5}});
  EXPECT_THAT(test::message_of([&] {
                recv(world(), value, {previous(), Tag{5}});
              }),
              testing::HasSubstr("sent 8 bytes with tag 5"));
  sent.wait();
  // A receive that no message matches can be cancelled.
  Request never = irecv(world(), value, {previous(), Tag{6}});
  never.cancel();
  EXPECT_EQ(never.wait_status().errc(), Errc::cancelled);
}

}  // namespace
}  // namespace fab
