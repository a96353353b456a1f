// One rank with a recording provider; the other ranks of its job exist only as addresses.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/communicator/communicator.h"
#include "core/context.h"
#include "unit/harness/recording_provider.h"

namespace fab::test {

/// Every variable at its default, the progress thread off.
[[nodiscard]] Config caller_config();

/// A schedule of one round: receives `bytes` bytes from each peer and sends it as many, once for each slot. Message k
/// lies at k * bytes in both buffers, peer by peer.
[[nodiscard]] Schedule exchange_with(const std::vector<Rank>& peers, std::size_t bytes, std::uint32_t slots = 1);

/// Two buffers of one exchange.
struct Buffers {
  explicit Buffers(std::size_t bytes) : send(bytes, std::byte{1}), recv(bytes, std::byte{2}) {}
  std::vector<std::byte> send;
  std::vector<std::byte> recv;
};

/// Whether one of the posts reads from or writes to them.
[[nodiscard]] bool in_use(const Buffers& buffers, const std::vector<Post>& posts);

[[nodiscard]] std::vector<std::byte> bytes_of(std::size_t count, unsigned value);

class RecordingRig {
 public:
  struct Options {
    int ranks = 4;
    Config config = caller_config();
    Capabilities capabilities = RecordingProvider::default_capabilities();
    bool known = true;           ///< the other ranks are found from the start, so runs post when they start
    std::string lookup_fault{};  ///< not empty: no address can be had, for this reason
  };
  RecordingRig() : RecordingRig(Options{}) {}
  explicit RecordingRig(const Options& options);

  [[nodiscard]] core::Context& context() { return *context_; }
  [[nodiscard]] core::Engine& engine() { return context_->engine(); }
  [[nodiscard]] RecordingProvider& provider() { return *provider_; }
  [[nodiscard]] const std::shared_ptr<core::Communicator>& world() { return world_; }
  // Of that one.
  [[nodiscard]] std::size_t cached_plans() {
    const core::Lock lock(engine());
    return world_->cached_plans();
  }
  [[nodiscard]] std::size_t retired_plans() {
    const core::Lock lock(engine());
    return world_->retired_plans();
  }
  [[nodiscard]] std::shared_ptr<core::Communicator> communicator(std::optional<core::ContextId> id);

  void publish(Rank rank);

  [[nodiscard]] std::shared_ptr<core::RunPool> pool(const Schedule& schedule);
  core::Run& start(core::RunPool& pool, std::span<std::byte* const> bases);
  core::Run& start(core::RunPool& pool, Buffers& buffers);
  /// Starts a run, with a plan of its own.
  core::Run& start(const Schedule& schedule, Buffers& buffers);
  core::Run& start(const Schedule& schedule, Buffers& buffers, core::Communicator& communicator);
  void let_go(core::Run& run);
  void poll();

 private:
  void meet_all_ranks();

  RecordingProvider* provider_ = nullptr;
  std::vector<std::unique_ptr<Store>> others_;
  std::shared_ptr<core::Context> context_;
  std::shared_ptr<core::Communicator> world_;
};

}  // namespace fab::test
