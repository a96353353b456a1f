// Messages that come before their receives, over a network where they hold up what follows.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <random>
#include <vector>

#include "unit/harness/exchange.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/random_topologies.h"

namespace fab::test {
namespace {

constexpr std::size_t kExchanges = 4;  ///< each on a communicator of its own

struct EarlyMessage {
  std::size_t longest_bytes;
  std::size_t iov_limit;
  std::vector<int> ranks = {2, 3, 5};
};

void PrintTo(const EarlyMessage& setting, std::ostream* out) {
  *out << "blocks up to " << setting.longest_bytes << " B, iov limit " << setting.iov_limit;
}

class EarlyMessages : public testing::TestWithParam<EarlyMessage> {
 protected:
  using Order = std::deque<std::size_t>;

  /// Ranks start exchanges in their orders: even ranks wait for each before the next, odd ranks start all at once.
  static void run(InProcessJob& job, std::vector<Exchange>& exchanges, std::vector<Order> orders) {
    std::vector<std::vector<core::Run*>> runs(orders.size());
    const auto start_more = [&](Rank rank) {
      const auto index = static_cast<std::size_t>(rank);
      auto& mine = runs[index];
      while (!orders[index].empty() && (rank % 2 != 0 || mine.empty() || mine.back()->done())) {
        mine.push_back(&exchanges[orders[index].front()].start(rank));
        orders[index].pop_front();
      }
      return orders[index].empty() && std::ranges::all_of(mine, [](const core::Run* each) { return each->done(); });
    };
    int left = job.size();
    for (int turn = 0; turn < 50'000 && left > 0; ++turn) {
      left = 0;
      for (Rank rank = 0; rank < job.size(); ++rank) left += start_more(rank) ? 0 : 1;
      job.progress();
    }
    ASSERT_EQ(left, 0) << "ranks are stuck";
    for (const auto& of_rank : runs)
      for (core::Run* each : of_rank) EXPECT_TRUE(release(*each).ok());
    for (const Exchange& exchange : exchanges)
      for (Rank rank = 0; rank < job.size(); ++rank) exchange.check(rank);
  }

  /// The numbers of all exchanges; shuffled for odd ranks.
  static std::vector<Order> orders(int ranks, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<Order> result(static_cast<std::size_t>(ranks), Order(kExchanges));
    for (std::size_t rank = 0; rank < result.size(); ++rank) {
      std::iota(result[rank].begin(), result[rank].end(), std::size_t{0});
      if (rank % 2 != 0) std::shuffle(result[rank].begin(), result[rank].end(), random);
    }
    return result;
  }
};

TEST_P(EarlyMessages, DoNotHoldUpOthers) {
  for (const int ranks : GetParam().ranks)
    for (const std::uint32_t seed : {1u, 2u}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, seed " << seed);
      InProcessJob job(
          ranks, caller_config(),
          {.seed = seed, .directed_receive = false, .iov_limit = GetParam().iov_limit, .early_messages_block = true});
      std::vector<Exchange> exchanges;
      for (std::uint32_t i = 0; i < kExchanges; ++i)
        exchanges.emplace_back(job.communicators([&](Rank) { return random_graph(ranks, seed); }),
                               ExchangeOptions{seed + i, GetParam().longest_bytes, 3, false});
      ASSERT_NO_FATAL_FAILURE(run(job, exchanges, orders(ranks, seed)));
      EXPECT_EQ(job.left_over(), 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(Settings, EarlyMessages,
                         testing::Values(EarlyMessage{100, 4}, EarlyMessage{9000, 1}, EarlyMessage{70'000, 4},
                                         EarlyMessage{140'000, 2}, EarlyMessage{500'000, 4, {2}}));

/// One rank whose provider keeps early messages back, and how often it has looked for them.
class Looks : public testing::Test {
 protected:
  static constexpr int kEnough = 1000;  ///< polls, for looks that happen once in many

  static RecordingRig::Options options() {
    RecordingRig::Options options;
    options.capabilities.early_messages_block = true;
    return options;
  }
  void poll(int times) {
    for (int i = 0; i < times; ++i) rig_.poll();
  }
  [[nodiscard]] std::size_t looks() const { return provider_.count(kRecv); }
  /// Leaves the look in flight, as long as nothing is delivered.
  void look() {
    provider_.set_cancelling(Cancelling::never);
    const std::size_t before = looks();
    for (int i = 0; i < kEnough && looks() == before; ++i) rig_.poll();
    ASSERT_EQ(looks(), before + 1);
  }
  /// To the latest look.
  void deliver() { provider_.deliver(provider_.posts().size() - 1, bytes_of(8, 1)); }

  RecordingRig rig_{options()};
  RecordingProvider& provider_ = rig_.provider();
};

TEST_F(Looks, FollowEachOtherAsLongAsTheyFindSomething) {
  look();
  for (std::size_t caught = 1; caught <= 3; ++caught) {
    deliver();
    poll(2);  // it arrives; nothing else happens
    EXPECT_EQ(looks(), caught + 1);
  }
  deliver();
  provider_.set_cancelling(Cancelling::in_cancel);
  poll(20);
  EXPECT_EQ(looks(), 5u) << "one more, in vain";
}

}  // namespace
}  // namespace fab::test
