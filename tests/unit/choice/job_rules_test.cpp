// Rules that depend on the job, as a communicator applies them: for nodes with fewer processors than ranks, and for
// nodes that TCP joins.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "collectives/choice/rules.h"
#include "collectives/start.h"
#include "core/bootstrap/store.h"
#include "core/communicator/communicator.h"
#include "core/context.h"
#include "unit/harness/recording_provider.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

constexpr int kRanksOfOneNode = 6;

/// Of a job that has all its ranks on a machine of so many processors.
class OneNodeStore final : public Store {
 public:
  explicit OneNodeStore(int processors) {
    job_.size = job_.local_size = kRanksOfOneNode;
    job_.processors = processors;
    job_.node_ranks.resize(kRanksOfOneNode);
    std::iota(job_.node_ranks.begin(), job_.node_ranks.end(), 0);
  }
  [[nodiscard]] const JobInfo& job() const noexcept override { return job_; }
  void publish(const std::string& /*key*/, std::string_view /*value*/) override {}
  void fetch(Rank /*rank*/, const std::string& /*key*/, Fetched done) override {
    done(std::nullopt, "there is no other rank");
  }
  [[nodiscard]] bool fence(double /*timeout_s*/, const std::function<void()>& /*idle*/) override { return true; }

 private:
  JobInfo job_;
};

/// Of a bcast, by a rule for crowded nodes, and one for all others.
std::string chosen_with(int processors) {
  Config config = caller_config();
  config.file_rules = std::make_shared<const collectives::Rules>(collectives::Rules{
      .name = "test",
      .rows = {{.collective = Collective::bcast, .where = collectives::Where::crowded, .algorithm = "linear"},
               {.collective = Collective::bcast, .algorithm = "chain"}}});
  const auto context = core::Context::open(
      config, std::make_unique<OneNodeStore>(processors), [](const Config&, const JobInfo&, const Log&) {
        return Transports{.node = std::make_unique<RecordingProvider>(RecordingProvider::default_capabilities()),
                          .network = nullptr};
      });
  const auto world = core::Communicator::world(context);
  return collectives::algorithm_for(*world, collectives::bcast_call(Layout::contiguous(8), 0)).name;
}

TEST(CrowdedNodes, AreThoseWithMoreRanksThanProcessors) {
  EXPECT_EQ(chosen_with(kRanksOfOneNode - 1), "linear");
  EXPECT_EQ(chosen_with(kRanksOfOneNode), "chain");
  EXPECT_EQ(chosen_with(0), "chain") << "a job that no machine runs";
}

bool goes_over_tcp(std::unique_ptr<Provider> network) {
  const auto context = core::Context::open(
      caller_config(), std::make_unique<OneNodeStore>(1), [&](const Config&, const JobInfo&, const Log&) {
        return Transports{.node = std::make_unique<RecordingProvider>(RecordingProvider::default_capabilities()),
                          .network = std::move(network)};
      });
  const auto world = core::Communicator::world(context);
  return collectives::made_on(*world, collectives::bcast_call(Layout::contiguous(8), 0)).over_tcp;
}

TEST(NodesThatTcpJoins, AreThoseWithoutACard) {
  Capabilities capabilities = RecordingProvider::default_capabilities();
  EXPECT_TRUE(goes_over_tcp(std::make_unique<RecordingProvider>(capabilities)));
  capabilities.card = true;
  EXPECT_FALSE(goes_over_tcp(std::make_unique<RecordingProvider>(capabilities)));
}

}  // namespace
}  // namespace fab::test
