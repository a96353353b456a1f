// The one collective call that each discovery contains. With it a discovery has its place in the order of the
// communicator's calls, is compared with other ranks' calls (FAB_CHECK), and hears of ranks that have refused it.
#pragma once

#include <cstdint>
#include <memory>

#include "collectives/calls/call.h"
#include "collectives/discover/discover.h"
#include "core/run/run.h"

namespace fab::collectives {

class DiscoverStep {
 public:
  enum class Begin : std::uint8_t { at_once, when_released };

  /// Starts it. The buffers live as long as this object.
  DiscoverStep(const std::shared_ptr<core::Communicator>& communicator, DiscoverAlgorithm algorithm,
               const Discovery& discovery, const CollectiveCall& call, const void* send, void* recv,
               Begin begin = Begin::at_once);
  /// Gives it up if it has not ended.
  ~DiscoverStep();
  DiscoverStep(const DiscoverStep&) = delete;
  DiscoverStep& operator=(const DiscoverStep&) = delete;

  [[nodiscard]] core::Pending& pending() noexcept { return run_; }
  [[nodiscard]] bool done() const noexcept { return run_.done(); }
  /// In the order of calls.
  [[nodiscard]] std::uint64_t place() const noexcept { return place_; }
  void release();
  /// This rank cannot do its part, and the other ranks learn that. Blames the rank of the job that was lost, if any.
  void give_up(const Status& reason);
  /// Returns when it has ended. Throws Error if it has failed.
  void complete();

 private:
  const std::shared_ptr<core::Communicator> communicator_;
  core::Run& run_;
  std::uint64_t place_ = 0;
};

}  // namespace fab::collectives
