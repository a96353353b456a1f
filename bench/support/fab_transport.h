// What fab talks through in this job.
#pragma once

#include <string>

#include "core/bootstrap/store.h"
#include "core/config.h"
#include "core/transports.h"
#include "providers/ofi/survey.h"

namespace bench {

/// Asks fab's own survey, with this job and the FAB_* variables, so the answer is what fab itself chooses.
class FabTransport {
 public:
  FabTransport();

  /// What libfabric would be used for; also where fab does not use it.
  [[nodiscard]] const fab::ofi::Candidate& network() const { return survey_.best(); }
  [[nodiscard]] bool uses_network() const { return choice_.network; }
  /// "local", "net" or "local+net"
  [[nodiscard]] std::string provider() const;
  /// "net on lo"
  [[nodiscard]] std::string name() const;
  [[nodiscard]] int nodes() const { return job_.node_count; }

 private:
  fab::Config config_;
  fab::JobInfo job_;
  fab::TransportChoice choice_;
  fab::ofi::Survey survey_;
};

}  // namespace bench
