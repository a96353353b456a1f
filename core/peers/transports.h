// The transports of a process: its provider for the node and its provider for the network.
#pragma once

#include <memory>
#include <string>

#include "core/base/config.h"
#include "core/bootstrap/store.h"
#include "core/provider.h"

namespace fab {

/// Which ways out a rank needs; all ranks of a node come to the same answer about it.
struct TransportChoice {
  bool node = false;
  bool network = true;
};

/// The node's where its ranks are known and FAB_LOCAL allows; the network unless that reaches all ranks.
[[nodiscard]] inline TransportChoice choose_transports(const Config& config, const JobInfo& job) noexcept {
  const bool node = config.local && !job.node_ranks.empty();
  return {node, !node || static_cast<int>(job.node_ranks.size()) != job.size};
}

/// At least one of the two.
struct Transports {
  std::unique_ptr<Provider> node;     ///< shared memory: to the ranks of this node
  std::unique_ptr<Provider> network;  ///< to all ranks that `node` does not reach

  /// "local (pid 17) and net on eth0 (10.0.0.1:4711)"
  [[nodiscard]] std::string description() const {
    if (!node || !network) return (node ? node : network)->description();
    return node->description() + " and " + network->description();
  }
  /// Whose tags are the narrower ones.
  [[nodiscard]] const Capabilities& narrowest() const { return (network ? network : node)->capabilities(); }
};

}  // namespace fab
