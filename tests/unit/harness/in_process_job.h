// All ranks of a job in this process, joined by a simulated network, driven by turns or by threads of their own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/communicator/communicator.h"
#include "core/context.h"
#include "providers/sim/network.h"

namespace fab::test {

/// A network as unkind as a provider may be: see sim::adversarial. Ranks sleep on its descriptors, and their polls let
/// time pass.
struct NetworkOptions {
  std::uint32_t seed = 1;
  bool directed_receive = true;
  std::size_t iov_limit = 4;
  std::size_t inject_bytes = 64;
  std::uint64_t tag_mask = ~0ull;
  unsigned refused_percent = 30;
  bool early_messages_block = false;
  bool takes_longer_messages = false;
  bool writes = false;
  std::vector<int> nodes{};  ///< of each rank; empty: all share one
};

/// Fails the test when a rank did what the network's capabilities forbid.
class InProcessJob {
 public:
  InProcessJob(int ranks, const Config& config, const NetworkOptions& options);
  /// Ranks whose configurations differ.
  InProcessJob(const std::vector<Config>& configs, const NetworkOptions& options);
  /// Over something else than a simulated network.
  InProcessJob(const core::TransportFactory& make, int ranks, const Config& config);
  ~InProcessJob();
  InProcessJob(const InProcessJob&) = delete;
  InProcessJob& operator=(const InProcessJob&) = delete;

  [[nodiscard]] int size() const noexcept { return static_cast<int>(contexts_.size()); }
  [[nodiscard]] sim::Network& network() noexcept { return network_; }
  [[nodiscard]] core::Context& context(Rank rank) { return *contexts_.at(static_cast<std::size_t>(rank)); }

  /// One communicator of all ranks, seen from each.
  using Communicators = std::vector<std::shared_ptr<core::Communicator>>;
  [[nodiscard]] Communicators communicators(const std::function<std::optional<Topology>(Rank)>& topology);

  /// Drives all ranks in turn until all runs are done; fails the test when that does not happen.
  void finish(std::span<core::Run* const> runs);
  /// Drives every rank once.
  void progress();
  /// What the network has left over; between looks into inboxes, where there are any.
  [[nodiscard]] std::size_t left_over();

 private:
  sim::Network network_;  ///< unused over something else
  std::vector<std::shared_ptr<core::Context>> contexts_;
};

/// Starts something on a communicator under its engine's lock.
template <class Start>
core::Run& start_locked(core::Communicator& communicator, Start&& start) {
  const core::Lock lock(communicator.engine());
  return start(communicator);
}

/// Returns the run to its plan, and how it ended.
Status release(core::Run& run);

}  // namespace fab::test
