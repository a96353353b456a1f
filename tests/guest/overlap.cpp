// Communication behind computation, over a link that is slow enough to tell: the computation calls nothing of fab's.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <span>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"
#include "support/peek.h"
#include "support/time_limit.h"

namespace fab {
namespace {

using Overlap = test::OnAllRanks;
using Clock = std::chrono::steady_clock;

// 20 kB for each neighbour are a rendezvous: both ends have to do something for it after the start.
constexpr std::size_t kElements = 2500;
constexpr int kRounds = 10;
const double kLongestS = test::time_limit_s(5);

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

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

/// Computes, with a look at memory alone now and then, until all has come or that has taken far too long.
double compute_until_all_is_there(const Exchange& exchange) {
  const auto begin = Clock::now();
  const auto is_there = [&] {
    return test::peek(exchange.in[kElements - 1]) >= 0 && test::peek(exchange.in[2 * kElements - 1]) >= 0;
  };
  while (!is_there() && seconds_since(begin) < kLongestS) {
  }
  return seconds_since(begin);
}

/// Other load on the processors cannot fail this: the time is only printed, and no assertion depends on it.
void expect_hidden(const Communicator& ring, Exchange& exchange, int self, const std::function<void()>& start,
                   const std::function<void()>& wait) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    exchange.fill(self, round);
    barrier(ring);
    start();
    times.push_back(compute_until_all_is_there(exchange));
    wait();
    exchange.expect_from(1 - self, round);
    ASSERT_LT(times.back(), kLongestS) << "round " << round << ": nothing comes while the caller computes";
  }
  std::printf("hidden behind a computation: an exchange of %.2f ms (median)\n", 1e3 * median(times));
  // Who comes late out of the barrier finds the other's messages on their way.
  double longest_s = median(times);
  allreduce(ring, std::span(&longest_s, 1), ReduceOp::max);
  EXPECT_GT(longest_s, 1e-3) << "the link has no delay of 1 ms";
}

TEST_F(Overlap, MessagesTravelWhileTheCallerComputes) {
  ASSERT_EQ(size(), 2);
  const Communicator ring = this->ring();
  Exchange exchange;
  Request request;
  const auto start = [&] {
    request = neighbor_xchg.start(ring, std::span<const double>(exchange.out), std::span<double>(exchange.in));
  };
  expect_hidden(ring, exchange, rank(), start, [&] { request.wait(); });
}

TEST_F(Overlap, WritesTravelWhileTheCallerComputes) {
  ASSERT_EQ(size(), 2);
  const Communicator ring = this->ring();
  Exchange exchange;
  PersistentExchange persistent = neighbor_xchg.persistent(ring, exchange.out.data(), exchange.in.data(),
                                                           Layout::contiguous(kElements * sizeof(double)));
  expect_hidden(
      ring, exchange, rank(), [&] { persistent.start(); }, [&] { persistent.wait(); });
}

}  // namespace
}  // namespace fab
