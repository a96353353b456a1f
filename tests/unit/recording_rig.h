// One rank with a recording provider; the other ranks of its job exist only as addresses.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/communicator.h"
#include "core/context.h"
#include "unit/recording_provider.h"

namespace fab::test {

/// Every variable at its default, the progress thread off.
[[nodiscard]] Config caller_config();

class RecordingRig {
 public:
  struct Options {
    int ranks = 4;
    Config config = caller_config();
    Capabilities capabilities = RecordingProvider::default_capabilities();
    bool published = true;  ///< the other ranks' addresses are there from the start
  };
  RecordingRig() : RecordingRig(Options{}) {}
  explicit RecordingRig(const Options& options);

  [[nodiscard]] core::Context& context() { return *context_; }
  [[nodiscard]] core::Engine& engine() { return context_->engine(); }
  [[nodiscard]] RecordingProvider& provider() { return *provider_; }
  [[nodiscard]] const std::shared_ptr<core::Communicator>& world() { return world_; }
  [[nodiscard]] std::shared_ptr<core::Communicator> communicator(std::optional<core::ContextId> id);

  void publish(Rank rank);
  void close_stores() { others_.clear(); }
  /// Gives up the rig's own hold on the world communicator.
  void drop_world() { world_.reset(); }

  [[nodiscard]] std::shared_ptr<core::Plan> plan(const Schedule& schedule);
  core::Run& start(core::Plan& plan, std::span<std::byte* const> bases);
  core::Run& start(core::Plan& plan, std::vector<std::byte>& send, std::vector<std::byte>& recv);
  /// Starts a run, with a plan of its own.
  core::Run& start(const Schedule& schedule, std::vector<std::byte>& send, std::vector<std::byte>& recv);
  void let_go(core::Run& run);
  void abandon(core::Run& run, const Status& reason);
  void poll();

 private:
  RecordingProvider* provider_ = nullptr;
  std::vector<std::unique_ptr<Store>> others_;
  std::shared_ptr<core::Context> context_;
  std::shared_ptr<core::Communicator> world_;
};

}  // namespace fab::test
