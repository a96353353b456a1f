// One call of a collective on all ranks of a job, compared with its model.
#pragma once

#include <vector>

#include "core/communicator/persistent.h"
#include "unit/collectives/collective_model.h"
#include "unit/harness/in_process_job.h"

namespace fab::test {

/// The buffers of all ranks, before and after the call.
class Performance {
 public:
  Performance(const CollectiveModel& model, const CollectiveShape& shape);

  core::Run& start(core::Communicator& communicator);
  core::Run& start_under_lock(core::Communicator& communicator);
  /// One rank's persistent form, which this outlives.
  [[nodiscard]] core::Persistent make(const std::shared_ptr<core::Communicator>& communicator);
  /// Of the rank that has called.
  void check(Rank rank) const;

 private:
  [[nodiscard]] Bytes random_values(Rank rank) const;
  /// With room behind the last element that must not be touched.
  [[nodiscard]] Bytes buffer(std::size_t elements) const;
  void put(const Bytes& values, Bytes& buffer, std::size_t first_element) const;

  const CollectiveModel& model_;
  const CollectiveShape shape_;
  const std::size_t distance_;
  Layout element_;
  std::vector<Bytes> values_;
  std::vector<Bytes> send_;
  std::vector<Bytes> recv_;
  std::vector<Bytes> send_before_;
  std::vector<Bytes> recv_before_;
};

/// Makes the call on all ranks of a job, which drives, and compares.
void perform(InProcessJob& job, const InProcessJob::Communicators& communicators, const CollectiveModel& model,
             const CollectiveShape& shape);

}  // namespace fab::test
