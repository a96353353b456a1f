// What fab talks through in this job.
#pragma once

#include <string>

#include "core/bootstrap/store.h"
#include "core/config.h"
#include "providers/ofi/survey.h"

namespace bench {

/// Asks fab's own survey, with this job and the FAB_* variables, so the answer is what fab itself chooses.
class FabTransport {
 public:
  FabTransport();

  [[nodiscard]] const fab::ofi::Candidate& choice() const { return survey_.best(); }
  /// "net on lo"
  [[nodiscard]] std::string name() const;
  [[nodiscard]] int nodes() const { return job_.node_count; }

 private:
  fab::Config config_;
  fab::JobInfo job_;
  fab::ofi::Survey survey_;
};

}  // namespace bench
