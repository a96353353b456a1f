// All ranks of a job in this process, joined by a Fabric.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/communicator.h"
#include "core/context.h"
#include "unit/fabric.h"

namespace fab::test {

class InProcessJob {
 public:
  InProcessJob(int ranks, const Config& config, const FabricOptions& options);
  /// Ranks whose configurations differ.
  InProcessJob(const std::vector<Config>& configs, const FabricOptions& options);
  /// Over something else than a fabric.
  InProcessJob(const core::TransportFactory& make, int ranks, const Config& config);

  [[nodiscard]] int size() const noexcept { return static_cast<int>(contexts_.size()); }
  [[nodiscard]] Fabric& fabric() noexcept { return fabric_; }
  [[nodiscard]] core::Context& context(Rank rank) { return *contexts_.at(static_cast<std::size_t>(rank)); }

  /// One communicator of all ranks, seen from each.
  using Communicators = std::vector<std::shared_ptr<core::Communicator>>;
  [[nodiscard]] Communicators communicators(const std::function<std::optional<Topology>(Rank)>& topology);

  /// Drives all ranks in turn until all runs are done; fails the test when that does not happen.
  void finish(std::span<core::Run* const> runs);
  /// Drives every rank once.
  void progress();
  /// What the fabric has left over; between looks into inboxes, where there are any.
  [[nodiscard]] std::size_t left_over();

 private:
  Fabric fabric_;  ///< unused over something else
  std::vector<std::shared_ptr<core::Context>> contexts_;
};

/// Starts something on a communicator under its engine's lock.
template <class Start>
core::Run& start_locked(core::Communicator& communicator, Start&& start) {
  const core::Lock lock(communicator.engine().mutex);
  return start(communicator);
}

/// Returns the run to its plan, and how it ended.
Status release(core::Run& run);

}  // namespace fab::test
