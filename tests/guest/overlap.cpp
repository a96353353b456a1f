// Communication behind computation, over a link that is slow enough to tell: the computation calls nothing of fab's.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

using Overlap = test::OnAllRanks;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kElements = 16 * 1024;  // 128 KiB for each neighbour: a rendezvous of several ways
constexpr int kRounds = 9;
constexpr double kLeastHidden = 0.6;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void compute_for(double seconds) {
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) {
  }
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double element(int sender, int round, std::size_t i) {
  return 1e6 * sender + 1e4 * round + static_cast<double>(i % 997);
}

/// An exchange between the two ranks of a ring, with buffers of its own.
struct Exchange {
  std::vector<double> out = std::vector<double>(2 * kElements);
  std::vector<double> in = std::vector<double>(2 * kElements);

  void fill(int rank, int round) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = element(rank, round, i);
    std::ranges::fill(in, -1);
  }
  void expect_from(int sender, int round) const {
    // Both neighbours are the other rank: what it sent ahead comes from behind, and the other way round.
    for (std::size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(in[i], element(sender, round, (i + kElements) % in.size())) << "element " << i;
  }
};

/// How much of an exchange is over when a computation ends that takes three times as long.
void expect_hidden(const Communicator& ring, Exchange& exchange, int self, const char* name,
                   const std::function<void()>& start, const std::function<void()>& wait) {
  const int other = 1 - self;
  int round = 0;
  const auto take = [&](double compute_s) {
    exchange.fill(self, round);
    barrier(ring);
    const auto begin = Clock::now();
    start();
    compute_for(compute_s);
    wait();
    const double took = seconds_since(begin) - compute_s;
    exchange.expect_from(other, round++);
    return took;
  };
  take(0);  // connections
  std::vector<double> whole;
  for (int i = 0; i < kRounds; ++i) whole.push_back(take(0));
  std::vector<double> exchange_s{median(whole)};
  allreduce(ring, std::span(exchange_s), ReduceOp::max);
  std::vector<double> rest;
  for (int i = 0; i < kRounds; ++i) rest.push_back(take(3 * exchange_s[0]));
  const double hidden = 1 - median(rest) / exchange_s[0];
  std::printf("[rank %d] %s: %.2f ms, of which %.0f %% are hidden\n", self, name, 1e3 * exchange_s[0], 100 * hidden);
  EXPECT_GT(exchange_s[0], 1e-3) << "the link has no delay of 1 ms";
  EXPECT_GT(hidden, kLeastHidden);
}

TEST_F(Overlap, MessagesTravelWhileTheCallerComputes) {
  ASSERT_EQ(size(), 2);
  const Communicator ring = this->ring();
  Exchange exchange;
  Request request;
  expect_hidden(
      ring, exchange, rank(), "messages",
      [&] { request = ineighbor_xchg(ring, std::span<const double>(exchange.out), std::span<double>(exchange.in)); },
      [&] { request.wait(); });
}

TEST_F(Overlap, WritesTravelWhileTheCallerComputes) {
  ASSERT_EQ(size(), 2);
  const Communicator ring = this->ring();
  Exchange exchange;
  PersistentExchange persistent =
      neighbor_xchg_init(ring, exchange.out.data(), exchange.in.data(), Layout::contiguous(kElements * sizeof(double)));
  expect_hidden(
      ring, exchange, rank(), "writes", [&] { persistent.start(); }, [&] { persistent.wait(); });
}

}  // namespace
}  // namespace fab
