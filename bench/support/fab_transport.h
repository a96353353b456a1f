// The transport that fab uses in this job.
#pragma once

#include <string>

#include "core/base/config.h"
#include "core/bootstrap/store.h"
#include "core/peers/transports.h"
#include "providers/ofi/survey.h"
#include "support/fab_path.h"

namespace bench {

/// Asks fab's own survey, with this job and the FAB_* variables, so the answer is what fab itself chooses.
class FabTransport {
 public:
  FabTransport();

  /// What libfabric would be used for; also where fab does not use it.
  [[nodiscard]] const fab::ofi::Candidate& network() const { return survey_.best(); }
  [[nodiscard]] bool uses_network() const { return choice_.network; }
  [[nodiscard]] FabPath path() const;

 private:
  [[nodiscard]] std::string provider() const;
  [[nodiscard]] std::string name() const;

  fab::Config config_;
  fab::JobInfo job_;
  fab::TransportChoice choice_;
  fab::ofi::Survey survey_;
};

}  // namespace bench
