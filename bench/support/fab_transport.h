// The transport that fab uses in this job.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/config.h"
#include "core/bootstrap/store.h"
#include "core/peers/transports.h"
#include "providers/ofi/survey.h"
#include "support/fab_path.h"
#include "support/memory.h"

namespace bench {

/// Asks fab's own survey, with this job and the FAB_* variables, so the answer is what fab itself chooses.
class FabTransport {
 public:
  FabTransport();

  /// What libfabric would be used for; also where fab does not use it.
  [[nodiscard]] const fab::ofi::Candidate& network() const { return survey_.best(); }
  [[nodiscard]] bool uses_network() const { return choice_.network; }
  [[nodiscard]] FabPath path() const;

  /// A message for an exchange.
  struct Message {
    int peer = 0;
    std::uint64_t bytes = 0;
    MemoryKind memory = MemoryKind::user;
    bool is_contiguous = true;
    bool is_persistent = false;
    bool is_constant = true;  ///< between its posts
  };
  /// The way that fab's own rules give it: "cell", "ring", "mapped" or "kernel" within the node, "tagged" or
  /// "one-sided" over the network, "copy" within this process.
  [[nodiscard]] std::string way(const Message& message) const;

 private:
  [[nodiscard]] std::string way_in_node(const Message& message) const;
  [[nodiscard]] std::string provider() const;
  [[nodiscard]] std::string name() const;

  fab::Config config_;
  fab::JobInfo job_;
  fab::TransportChoice choice_;
  fab::ofi::Survey survey_;
};

}  // namespace bench
