// The ways out of a process.
#pragma once

#include <memory>
#include <string>

#include "core/provider.h"

namespace fab {

/// At least one of the two.
struct Transports {
  std::unique_ptr<Provider> node;     ///< shared memory: to the ranks of this node
  std::unique_ptr<Provider> network;  ///< to everybody, but for what `node` reaches

  /// "local (pid 17) and net on eth0 (10.0.0.1:4711)"
  [[nodiscard]] std::string description() const {
    if (!node || !network) return (node ? node : network)->description();
    return node->description() + " and " + network->description();
  }
  /// Whose tags are the narrower ones.
  [[nodiscard]] const Capabilities& narrowest() const { return (network ? network : node)->capabilities(); }
};

}  // namespace fab
