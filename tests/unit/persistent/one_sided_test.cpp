// Persistent exchanges by one-sided writes, over a network that carries them out late and in any order.
#include "core/one_sided/one_sided.h"

#include <gmock/gmock.h>

#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>

#include "collectives/neighbor/neighbor_xchg.h"
#include "core/run/wait.h"
#include "support/fill.h"
#include "unit/harness/in_process_job.h"
#include "unit/support/expect_error.h"
#include "unit/support/random_topologies.h"

namespace fab::test {
namespace {

using collectives::BlockList;
using testing::HasSubstr;

Config caller_only(double wait_timeout_s = 0) {
  Config config = read_config([](const std::string&) { return std::nullopt; });
  config.progress = ProgressMode::caller;
  config.wait_timeout_s = wait_timeout_s;
  return config;
}

constexpr NetworkOptions kWrites{.refused_percent = 20, .writes = true};

/// A block of `bytes`; scattered ones leave a gap behind each byte.
Layout block_layout(std::size_t bytes, bool scattered) {
  if (!scattered) return Layout::contiguous(bytes);
  return Layout::vector(bytes, 1, 2, Layout::contiguous(1));
}

/// One rank's persistent exchange with blocks of its own, and what must come of each start.
class Side {
 public:
  using Bytes = std::function<std::size_t(Rank from, Rank to)>;

  Side(std::shared_ptr<core::Communicator> communicator, const Bytes& bytes, bool scattered) : scattered_(scattered) {
    rank_ = communicator->rank();
    const Neighborhood& edges = communicator->neighborhood();
    for (const Edge& edge : edges.destinations) room_ = std::max(room_, 2 * bytes(rank_, edge.peer));
    for (const Edge& edge : edges.sources) room_ = std::max(room_, 2 * bytes(edge.peer, rank_));
    const auto add = [&](std::vector<BlockShape>& shapes, std::vector<Rank>& ranks, Rank rank, std::size_t size) {
      shapes.push_back({static_cast<std::ptrdiff_t>(shapes.size() * room_), block_layout(size, scattered)});
      ranks.push_back(rank);
    };
    for (const Edge& edge : edges.destinations) add(sent_, to_, edge.peer, bytes(rank_, edge.peer));
    for (const Edge& edge : edges.sources) add(received_, from_, edge.peer, bytes(edge.peer, rank_));
    send_.assign(sent_.size() * room_, std::byte{});
    recv_.assign(received_.size() * room_, kUntouched);
    exchange_.emplace(
        collectives::make_neighbor_xchg(std::move(communicator), send_.data(), recv_.data(),
                                        {.send = BlockList::general(sent_), .recv = BlockList::general(received_)}));
  }

  void start() {
    ++starts_;
    recv_.assign(recv_.size(), kUntouched);
    for (std::size_t i = 0; i < sent_.size(); ++i) put(values(sent_[i], rank_, to_[i]), &send_[i * room_]);
    const core::Lock lock(exchange_->engine());
    exchange_->start();
  }
  [[nodiscard]] bool done() const { return exchange_->run().done(); }
  Status end() {
    exchange_->end();
    return exchange_->run().status();
  }
  Status wait() {
    core::finish(exchange_->run());
    return end();
  }
  /// Everything has come, and nothing else was touched. Afterwards no rank may read what was sent.
  void check() {
    std::vector<std::byte> expected(recv_.size(), kUntouched);
    for (std::size_t i = 0; i < received_.size(); ++i) put(values(received_[i], from_[i], rank_), &expected[i * room_]);
    ASSERT_TRUE(same(recv_, expected)) << "rank " << rank_ << ", start " << starts_;
    send_.assign(send_.size(), std::byte{0xdd});
  }
  [[nodiscard]] bool untouched() const { return are_untouched(recv_); }
  /// Of the last start, so far.
  [[nodiscard]] std::size_t received_bytes() const {
    return recv_.size() - static_cast<std::size_t>(std::ranges::count(recv_, kUntouched));
  }
  [[nodiscard]] int starts() const { return starts_; }
  [[nodiscard]] core::Persistent& exchange() { return *exchange_; }

 private:
  /// What a block of this shape brings in the last start: numbers that count up, and are never kUntouched.
  [[nodiscard]] std::span<const std::byte> values(const BlockShape& shape, Rank from, Rank to) const {
    constexpr std::size_t kValues = 200;
    static std::vector<std::byte> counting;
    const std::size_t first = static_cast<std::size_t>(from * 7 + to * 13 + starts_ * 31) % kValues;
    while (counting.size() < first + shape.layout.size())
      counting.push_back(static_cast<std::byte>(counting.size() % kValues));
    return std::span(counting).subspan(first, shape.layout.size());
  }
  void put(std::span<const std::byte> values, std::byte* place) const {
    if (scattered_)
      for (const std::byte value : values) *std::exchange(place, place + 2) = value;
    else
      std::memcpy(place, values.data(), values.size());
  }

  bool scattered_;
  std::size_t room_ = 100;  ///< of a block
  Rank rank_ = 0;
  int starts_ = 0;
  std::vector<BlockShape> sent_;
  std::vector<BlockShape> received_;
  std::vector<Rank> to_;
  std::vector<Rank> from_;
  std::vector<std::byte> send_;
  std::vector<std::byte> recv_;
  std::optional<core::Persistent> exchange_;
};

/// Sizes on both sides of where two slots end, none at all included, and one of several writes in some graphs.
std::size_t random_bytes(std::uint32_t seed, Rank from, Rank to) {
  static constexpr std::size_t kLengths[] = {2 * core::kLeastWriteBytes + 3, 0, 1, 40, 5000, 32'768, 32'769, 70'000};
  const std::size_t first = seed % 4 == 0 ? 0 : 1;
  const std::size_t random = std::mt19937(seed * 977 + static_cast<std::uint32_t>(from * 31 + to))();
  return kLengths[first + random % (std::size(kLengths) - first)];
}

class OneSidedGraphs : public testing::TestWithParam<bool> {};

// Ranks run ahead of each other as far as the exchanges let them.
TEST_P(OneSidedGraphs, EveryStartBringsItsOwnData) {
  constexpr int kStarts = 12;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    NetworkOptions options = kWrites;
    options.seed = seed;
    const int ranks = 2 + static_cast<int>(seed % 4);
    InProcessJob job(ranks, caller_only(), options);
    std::deque<Side> sides;
    const auto bytes = [seed](Rank from, Rank to) { return random_bytes(seed, from, to); };
    for (const auto& communicator : job.communicators([&](Rank) { return random_graph(ranks, seed); }))
      sides.emplace_back(communicator, bytes, GetParam());
    std::vector<bool> active(sides.size());
    std::mt19937 random(seed);
    const auto all_ended = [&] {
      return std::ranges::all_of(sides, [](const Side& side) { return side.starts() == kStarts; }) &&
             std::ranges::none_of(active, std::identity());
    };
    for (int turn = 0; turn < 100'000 && !all_ended(); ++turn) {
      const std::size_t rank = random() % sides.size();
      Side& side = sides[rank];
      if (!active[rank] && side.starts() < kStarts) {
        side.start();
        active[rank] = true;
      }
      job.context(static_cast<Rank>(rank)).engine().poll_once();
      if (!active[rank] || !side.done()) continue;
      const Status status = side.end();
      ASSERT_TRUE(status.ok()) << status.message;
      ASSERT_NO_FATAL_FAILURE(side.check());
      active[rank] = false;
    }
    ASSERT_TRUE(all_ended()) << "it does not come to an end";
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, OneSidedGraphs, testing::Bool(),
                         [](const auto& param) { return param.param ? "Scattered" : "Contiguous"; });

/// Two ranks; messages go from rank 0 to rank 1, and back if `both_ways`.
struct Two {
  using Prepare = std::function<void(InProcessJob&)>;

  Two(
      std::size_t sent, std::size_t expected, bool both_ways, double timeout_s,
      const Prepare& prepare = [](InProcessJob&) {}, bool scattered = false)
      : job(2, caller_only(timeout_s), kWrites) {
    prepare(job);
    const auto topology = [&](Rank rank) -> std::optional<Topology> {
      const std::vector<int> other{1 - rank};
      const std::vector<int> none;
      if (both_ways) return DistributedGraph(other, other);
      return rank == 0 ? DistributedGraph(none, other) : DistributedGraph(other, none);
    };
    for (const auto& communicator : job.communicators(topology)) {
      const std::size_t here = communicator->rank() == 0 ? sent : expected;
      sides.emplace_back(
          communicator, [here](Rank, Rank) { return here; }, scattered);
    }
  }
  void poll_both(int turns = 200) {
    for (int turn = 0; turn < turns; ++turn) job.progress();
  }
  void run_both() {
    for (Side& side : sides) side.start();
    poll_both();
    for (Side& side : sides) {
      ASSERT_TRUE(side.done());
      const Status status = side.end();
      ASSERT_TRUE(status.ok()) << status.message;
      ASSERT_NO_FATAL_FAILURE(side.check());
    }
  }

  InProcessJob job;
  std::deque<Side> sides;
};

TEST(OneSided, DataAreWrittenAndNotSent) {
  Two two(100'000, 100'000, true, 0);
  two.run_both();
  const std::size_t control_messages = two.job.network().messages();
  EXPECT_EQ(control_messages, 2u) << "what each needs to know of the other";
  for (int i = 0; i < 5; ++i) two.run_both();
  EXPECT_EQ(two.job.network().messages(), control_messages);
}

TEST(OneSided, LongMessagesAreWrittenInParts) {
  constexpr std::uint64_t kLeast = core::kLeastWriteBytes;
  for (const std::uint64_t bytes :
       std::vector<std::uint64_t>{0, 1, 2 * kLeast - 1, 2 * kLeast, 3 * kLeast + 77, 1ull << 40}) {
    const std::vector<core::MessagePart> writes = core::writes_of(bytes);
    EXPECT_EQ(writes.size(), std::clamp<std::uint64_t>(bytes / kLeast, 1, core::kMostWrites));
    std::uint64_t end = 0;
    for (const core::MessagePart& write : writes) {
      EXPECT_EQ(write.offset, end);
      end += write.bytes;
      if (writes.size() > 1) {
        EXPECT_GT(write.bytes, kLeast - 256) << bytes;
      }
    }
    EXPECT_EQ(end, bytes);
  }
}

// The receiver need not wait for the last byte.
TEST(OneSided, APartIsUnpackedWhenItIsWritten) {
  constexpr std::size_t kBytes = 2 * core::kLeastWriteBytes + 3;
  Two two(
      kBytes, kBytes, true, 0, [](InProcessJob&) {}, true);
  two.run_both();
  const std::vector<core::MessagePart> writes = core::writes_of(kBytes);
  ASSERT_EQ(writes.size(), 2u);
  std::set<std::size_t> seen;
  const auto all_done = [&] { return std::ranges::all_of(two.sides, &Side::done); };
  for (int start = 0; start < 3; ++start) {
    for (Side& side : two.sides) side.start();
    for (int turn = 0; turn < 200 && !all_done(); ++turn) {
      two.poll_both(1);
      for (const Side& side : two.sides) seen.insert(side.received_bytes());
    }
    for (Side& side : two.sides) {
      ASSERT_TRUE(side.end().ok());
      ASSERT_NO_FATAL_FAILURE(side.check());
    }
  }
  EXPECT_THAT(seen, testing::AnyOf(testing::Contains(writes[0].bytes), testing::Contains(writes[1].bytes)));
  seen.insert({0, writes[0].bytes, writes[1].bytes, kBytes});
  EXPECT_EQ(seen.size(), 4u) << "no part comes by halves";
}

TEST(OneSided, AWriterWaitsForTheOwnerOfAUsersBuffer) {
  for (const std::size_t bytes : {std::size_t{100'000}, std::size_t{4 * core::kLeastWriteBytes}}) {
    Two two(bytes, bytes, false, 0);
    two.run_both();
    two.sides[0].start();
    two.poll_both();
    EXPECT_FALSE(two.sides[0].done());
    two.sides[1].start();
    two.poll_both();
    EXPECT_TRUE(two.sides[0].done());
    EXPECT_TRUE(two.sides[1].done());
  }
}

TEST(OneSided, AWriterOfShortMessagesIsOneStartAhead) {
  Two two(100, 100, false, 0);
  two.run_both();
  two.sides[0].start();
  two.poll_both();
  ASSERT_TRUE(two.sides[0].done()) << "the second slot is free";
  EXPECT_TRUE(two.sides[0].end().ok());
  two.sides[0].start();
  two.poll_both();
  EXPECT_FALSE(two.sides[0].done()) << "the first is not known to be";
  for (int i = 0; i < 2; ++i) {
    two.sides[1].start();
    two.poll_both();
    EXPECT_TRUE(two.sides[1].end().ok());
  }
  EXPECT_TRUE(two.sides[0].done());
}

TEST(OneSided, EndsThatDisagreeAreTold) {
  for (const auto& [sent, expected] : {std::pair<std::size_t, std::size_t>{100, 90}, {90, 100}, {100'000, 90}}) {
    Two two(sent, expected, false, 0);
    for (Side& side : two.sides) side.start();
    two.poll_both();
    ASSERT_TRUE(two.sides[0].done());
    ASSERT_TRUE(two.sides[1].done());
    const Status writer = two.sides[0].end();
    const Status owner = two.sides[1].end();
    EXPECT_EQ(owner.errc(), sent > expected ? Errc::truncated : Errc::mismatch);
    EXPECT_THAT(owner.message, HasSubstr("receive from rank 0"));
    EXPECT_THAT(owner.message, HasSubstr("the other rank declares " + std::to_string(sent) + " bytes where " +
                                         std::to_string(expected) + " are declared here"));
    EXPECT_EQ(writer.errc(), Errc::mismatch);
    EXPECT_TRUE(two.sides[1].untouched());
  }
}

// Its buffer is its own again: what comes late finds it closed.
TEST(OneSided, AReceiverThatGaveUpIsNotWrittenTo) {
  for (const std::size_t bytes : {std::size_t{100'000}, std::size_t{4 * core::kLeastWriteBytes}}) {
    Two two(bytes, bytes, false, 0.2);
    two.run_both();
    two.sides[1].start();
    two.poll_both();
    EXPECT_EQ(two.sides[1].wait().errc(), Errc::timed_out);
    two.sides[0].start();
    two.poll_both();
    ASSERT_TRUE(two.sides[0].done());
    EXPECT_FALSE(two.sides[0].end().ok());
    EXPECT_TRUE(two.sides[1].untouched());
    two.sides[1].start();
    const Status again = two.sides[1].wait();
    EXPECT_EQ(again.errc(), Errc::timed_out);
    EXPECT_THAT(again.message, HasSubstr("make a new exchange"));
  }
}

TEST(OneSided, BothEndsHearThatMemoryCannotBeRegistered) {
  for (const std::size_t bytes : {100u, 100'000u}) {
    for (const Rank refusing : {0, 1}) {
      Two two(bytes, bytes, true, 5, [refusing](InProcessJob& job) {
        // What every exchange of the rank needs is there already.
        for (Rank rank = 0; rank < job.size(); ++rank) {
          const core::Lock lock(job.context(rank).engine());
          static_cast<void>(job.context(rank).arrivals());
        }
        job.network().refuse_registrations(refusing, 1);
      });
      for (Side& side : two.sides) side.start();
      two.poll_both();
      for (Side& side : two.sides) {
        ASSERT_TRUE(side.done());
        const Status status = side.end();
        EXPECT_EQ(status.errc(), Errc::no_resources) << status.message;
        EXPECT_TRUE(side.untouched());
      }
    }
  }
}

TEST(OneSided, MayEndBeforeThePeersAnswer) {
  Two two(100'000, 100'000, true, 0);
  two.sides.pop_front();
  two.poll_both();
  two.sides.pop_front();
  two.poll_both();
  EXPECT_EQ(two.job.left_over(), 0u);
}

// Each ends its control run with it, among the others' that the communicator still keeps.
TEST(OneSided, SeveralMayEndUnstarted) {
  InProcessJob job(2, caller_only(), kWrites);
  const auto topology = [](Rank rank) -> std::optional<Topology> {
    const std::vector<int> other{1 - rank};
    return DistributedGraph(other, other);
  };
  std::deque<Side> sides;
  const auto bytes = [](Rank, Rank) { return std::size_t{100}; };
  for (const auto& communicator : job.communicators(topology))
    for (int i = 0; i < 4; ++i) sides.emplace_back(communicator, bytes, false);
  for (int turn = 0; turn < 200; ++turn) job.progress();
  while (!sides.empty()) sides.pop_front();
  for (int turn = 0; turn < 200; ++turn) job.progress();
  EXPECT_EQ(job.left_over(), 0u);
}

}  // namespace
}  // namespace fab::test
