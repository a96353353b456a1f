// Real schedules over the unkind network, their data checked: every rank count, topology, layout and capability.
#include "unit/harness/exchange.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/run/wait.h"
#include "support/sanitizers.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/random_topologies.h"

namespace fab::test {
namespace {

// The thread sanitizer finds nothing where one thread drives all ranks.
const std::vector<int> kJobSizes = kThreadSanitizer    ? std::vector{1, 2, 5}
                                   : kAddressSanitizer ? std::vector{1, 2, 3, 5, 8}
                                                       : std::vector{1, 2, 3, 4, 5, 7, 8, 16};

/// What a job is made of besides its ranks.
struct ExchangeSetting {
  bool directed_receive;
  std::size_t iov_limit;
  std::size_t inject_bytes;
  std::size_t combine_bytes;
  bool check;
};

void PrintTo(const ExchangeSetting& setting, std::ostream* out) {
  *out << "directed receive " << setting.directed_receive << ", iov limit " << setting.iov_limit << ", inject "
       << setting.inject_bytes << " B, combine " << setting.combine_bytes << " B, check " << setting.check;
}

class Exchanges : public testing::TestWithParam<ExchangeSetting> {
 protected:
  [[nodiscard]] InProcessJob job(int ranks, std::uint32_t seed) const {
    Config config = caller_config();
    config.combine_bytes = GetParam().combine_bytes;
    config.check = GetParam().check;
    return {ranks,
            config,
            {.seed = seed,
             .directed_receive = GetParam().directed_receive,
             .iov_limit = GetParam().iov_limit,
             .inject_bytes = GetParam().inject_bytes}};
  }

  /// Exchanges with blocks of all forms: small and packed, gathered, longer than a head, in place.
  static void exchange(InProcessJob& job, const std::function<std::optional<Topology>(Rank)>& topology,
                       std::uint32_t seed, bool in_place) {
    const auto communicators = job.communicators(topology);
    for (const ExchangeOptions& options : {ExchangeOptions{.longest_bytes = 100, .most_pieces = 5},
                                           ExchangeOptions{.longest_bytes = 9000, .most_pieces = 3},
                                           ExchangeOptions{.longest_bytes = 100000, .most_pieces = 5}}) {
      SCOPED_TRACE(testing::Message() << job.size() << " ranks, seed " << seed << ", blocks up to "
                                      << options.longest_bytes << " B in " << options.most_pieces << " pieces");
      ExchangeOptions seeded = options;
      seeded.seed = seed;
      Exchange(communicators, seeded).run(job);
      seeded.in_place = true;
      if (in_place) Exchange(communicators, seeded).run(job);
    }
    EXPECT_EQ(job.network().left_over(), 0u);
  }
};

TEST_P(Exchanges, OnGraphs) {
  for (const int ranks : kJobSizes) {
    InProcessJob its = job(ranks, 10);
    exchange(
        its, [&](Rank) { return random_graph(ranks, 5); }, 20, true);
  }
}

TEST_P(Exchanges, OnDistributedGraphs) {
  for (const int ranks : kJobSizes) {
    InProcessJob its = job(ranks, 30);
    const auto parts = random_distributed_graph(ranks, 7);
    exchange(
        its, [&](Rank rank) { return parts[static_cast<std::size_t>(rank)]; }, 40, false);
  }
}

TEST_P(Exchanges, OnGrids) {
  for (const int ranks : kJobSizes) {
    InProcessJob its = job(ranks, 50);
    for (int dimensions = 1; dimensions <= 3; ++dimensions) {
      const std::vector<int> dims = grid_dims(ranks, dimensions);
      std::vector<bool> periodic(dims.size(), true);
      periodic[0] = dimensions != 2;
      exchange(
          its, [&](Rank) { return Cartesian(dims, periodic); }, 60, true);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, Exchanges,
    testing::Values(ExchangeSetting{true, 4, 64, 16384, false}, ExchangeSetting{false, 4, 64, 16384, false},
                    ExchangeSetting{true, 1, 0, 16384, false}, ExchangeSetting{false, 1, 0, 0, true},
                    ExchangeSetting{true, 2, 4096, 0, false}, ExchangeSetting{false, 2, 4096, 16384, true},
                    ExchangeSetting{true, 64, 0, 1 << 20, true}));

}  // namespace
}  // namespace fab::test
