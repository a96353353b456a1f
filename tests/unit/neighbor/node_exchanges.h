// Persistent exchanges on nodes that share a process: a thread is a rank.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "core/communicator/persistent.h"
#include "core/run/wait.h"
#include "support/fill.h"
#include "support/sanitizers.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {

inline constexpr int kNodeSeeds = kSanitized ? 2 : 6;

inline Config by_node_config() {
  Config config = caller_config();
  config.neighbor_paths = NeighborPaths::by_node;
  config.wait_timeout_s = 60;
  return config;
}

inline void start_and_wait(core::Persistent& exchange) {
  {
    const core::Lock lock(exchange.engine());
    exchange.start();
  }
  core::finish(exchange.run());
  EXPECT_TRUE(exchange.run().status().ok()) << exchange.run().status().message;
  exchange.end();
}

/// Each rank in a thread of its own.
template <class Body>
void on_all_ranks(const InProcessJob::Communicators& communicators, Body body) {
  std::vector<std::thread> threads;
  for (const auto& communicator : communicators) threads.emplace_back([&body, communicator] { body(communicator); });
  for (std::thread& thread : threads) thread.join();
}

/// Of the exchanges that `make` gives, by all ranks.
template <class Make>
int messages_between_nodes(const InProcessJob::Communicators& communicators, const std::vector<int>& nodes, Make make) {
  const auto node_of = [&](Rank rank) { return nodes[static_cast<std::size_t>(rank)]; };
  std::atomic<int> messages = 0;
  on_all_ranks(communicators, [&](const std::shared_ptr<core::Communicator>& communicator) {
    const core::Persistent exchange = make(communicator);
    const Schedule& schedule = exchange.run().plan().schedule();
    for (const OperationRecord& operation : schedule.operations())
      if (operation.kind == OperationKind::send &&
          node_of(schedule.peers()[operation.peer]) != node_of(communicator->rank()))
        ++messages;
  });
  return messages;
}

/// The node of each rank, dealt in one of three ways.
inline std::vector<int> nodes_of(int ranks, int nodes, std::uint32_t seed) {
  std::vector<int> result;
  for (Rank rank = 0; rank < ranks; ++rank)
    result.push_back(seed % 3 == 0 ? rank % nodes
                     : seed % 3 == 1
                         ? rank * nodes / ranks
                         : static_cast<int>(hash(seed + static_cast<unsigned>(rank)) % static_cast<unsigned>(nodes)));
  return result;
}

}  // namespace fab::test
