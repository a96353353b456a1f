#include "unit/harness/in_process_job.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace fab::test {

namespace {

sim::Options unkind(const NetworkOptions& wanted) {
  sim::Options options = sim::adversarial(wanted.seed);
  options.refused_percent = wanted.refused_percent;
  Capabilities& can = options.capabilities;
  can.directed_receive = wanted.directed_receive;
  can.iov_limit = wanted.iov_limit;
  can.inject_bytes = wanted.inject_bytes;
  can.tag_mask = wanted.tag_mask;
  can.early_messages_block = wanted.early_messages_block;
  can.takes_longer_messages = wanted.takes_longer_messages;
  can.writes = wanted.writes;
  can.wait_fd = true;
  return options;
}

}  // namespace

InProcessJob::InProcessJob(int ranks, const Config& config, const NetworkOptions& options)
    : InProcessJob(std::vector<Config>(static_cast<std::size_t>(ranks), config), options) {}

InProcessJob::InProcessJob(const std::vector<Config>& configs, const NetworkOptions& options)
    : network_(static_cast<int>(configs.size()), unkind(options)) {
  std::vector<std::unique_ptr<Store>> stores = open_memory_stores(static_cast<int>(configs.size()), options.nodes);
  for (std::size_t i = 0; i < configs.size(); ++i)
    contexts_.push_back(
        core::Context::open(configs[i], std::move(stores[i]), [&](const Config&, const JobInfo& job, const Log&) {
          return Transports{.node = nullptr, .network = network_.open(job.rank)};
        }));
}

InProcessJob::InProcessJob(const core::TransportFactory& make, int ranks, const Config& config) : network_(0, {}) {
  for (std::unique_ptr<Store>& store : open_memory_stores(ranks))
    contexts_.push_back(core::Context::open(config, std::move(store), make));
}

InProcessJob::~InProcessJob() { EXPECT_THAT(network_.violations(), testing::IsEmpty()); }

InProcessJob::Communicators InProcessJob::communicators(const std::function<std::optional<Topology>(Rank)>& topology) {
  const core::ContextId id = contexts_.front()->new_context_id();
  Communicators result;
  for (Rank rank = 0; rank < size(); ++rank) {
    result.push_back(std::make_shared<core::Communicator>(contexts_[static_cast<std::size_t>(rank)],
                                                          core::Group::range(0, size()), rank, id));
    if (std::optional<Topology> its = topology(rank)) result.back()->set_topology(std::move(*its));
  }
  return result;
}

void InProcessJob::finish(std::span<core::Run* const> runs) {
  constexpr int kTurns = 100'000;
  const auto all_done = [&] {
    return std::all_of(runs.begin(), runs.end(), [](const auto* run) { return run->done(); });
  };
  for (int turn = 0; turn < kTurns && !all_done(); ++turn) progress();
  for (core::Run* run : runs) {
    const core::Lock lock(run->membership().engine());
    ASSERT_TRUE(run->done()) << "rank " << run->membership().rank() << ": " << run->describe_pending();
  }
}

void InProcessJob::progress() {
  for (const auto& context : contexts_) context->engine().poll_once();
}

std::size_t InProcessJob::left_over() {
  for (int turn = 0; turn < 1000 && network_.left_over() > 0; ++turn) progress();
  return network_.left_over();
}

Status release(core::Run& run) {
  const core::Lock lock(run.membership().engine());
  Status status = run.status();
  run.let_go();
  return status;
}

}  // namespace fab::test
