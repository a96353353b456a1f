#include "unit/harness/recording_rig.h"

#include <algorithm>
#include <array>

#include "core/peers/settings.h"

namespace fab::test {

Config caller_config() {
  Config config = read_config([](const std::string&) { return std::nullopt; });
  config.progress = ProgressMode::caller;
  return config;
}

namespace {

/// A store in which nothing can be found.
class BarrenStore : public Store {
 public:
  BarrenStore(const JobInfo& job, std::string reason) : job_(job), reason_(std::move(reason)) {}
  [[nodiscard]] const JobInfo& job() const noexcept override { return job_; }
  void publish(const std::string&, std::string_view) override {}
  void fetch(Rank, const std::string&, Fetched done) override { done(std::nullopt, reason_); }
  [[nodiscard]] bool fence(double, const std::function<void()>&) override { return true; }

 private:
  const JobInfo job_;
  const std::string reason_;
};

}  // namespace

Schedule exchange_with(const std::vector<Rank>& peers, std::size_t bytes, std::uint32_t slots) {
  ScheduleBuilder builder("test", 1 + *std::max_element(peers.begin(), peers.end()));
  std::ptrdiff_t offset = 0;
  for (const Rank peer : peers)
    for (std::uint32_t slot = 0; slot < slots; ++slot, offset += static_cast<std::ptrdiff_t>(bytes)) {
      builder.recv(peer, slot, {BufferId::recv, offset, Layout::contiguous(bytes)});
      builder.send(peer, slot, {BufferId::send, offset, Layout::contiguous(bytes)});
    }
  return builder.commit();
}

bool in_use(const Buffers& buffers, const std::vector<Post>& posts) {
  const auto holds = [](const std::vector<std::byte>& buffer, const iovec& piece) {
    return piece.iov_base >= buffer.data() && piece.iov_base < buffer.data() + buffer.size();
  };
  return std::ranges::any_of(posts, [&](const Post& post) {
    return std::ranges::any_of(post.pieces, [&](const iovec& piece) {
      return piece.iov_len > 0 && (holds(buffers.send, piece) || holds(buffers.recv, piece));
    });
  });
}

std::vector<std::byte> bytes_of(std::size_t count, unsigned value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

RecordingRig::RecordingRig(const Options& options) : others_(open_memory_stores(options.ranks)) {
  std::unique_ptr<Store> own = std::move(others_.front());
  others_.erase(others_.begin());
  if (!options.lookup_fault.empty()) own = std::make_unique<BarrenStore>(own->job(), options.lookup_fault);
  context_ = core::Context::open(options.config, std::move(own), [&](const Config&, const JobInfo&, const Log&) {
    auto provider = std::make_unique<RecordingProvider>(options.capabilities);
    provider_ = provider.get();
    return Transports{.node = nullptr, .network = std::move(provider)};
  });
  world_ = core::Communicator::world(context_);
  if (!options.known) return;
  for (Rank rank = 1; rank < options.ranks; ++rank) publish(rank);
  meet_all_ranks();
}

std::shared_ptr<core::Communicator> RecordingRig::communicator(std::optional<core::ContextId> id) {
  return std::make_shared<core::Communicator>(context_, core::Group::range(0, context_->job().size), 0, id);
}

void RecordingRig::publish(Rank rank) {
  others_.at(static_cast<std::size_t>(rank - 1))
      ->publish("fab.address", core::with_settings(core::shared_settings(context_->config()), std::to_string(rank)));
}

void RecordingRig::meet_all_ranks() {
  const core::Lock lock(engine());
  for (Rank rank = 1; rank < context_->job().size; ++rank) (void)context_->peers().find(rank);
  engine().progress();
}

std::shared_ptr<core::RunPool> RecordingRig::pool(const Schedule& schedule) {
  const core::Lock lock(engine());
  return std::make_shared<core::RunPool>(*world_, schedule);
}

core::Run& RecordingRig::start(core::RunPool& pool, std::span<std::byte* const> bases) {
  const core::Lock lock(engine());
  return world_->start(pool, bases);
}

core::Run& RecordingRig::start(core::RunPool& pool, Buffers& buffers) {
  const std::array<std::byte*, 2> bases{buffers.send.data(), buffers.recv.data()};
  return start(pool, bases);
}

core::Run& RecordingRig::start(const Schedule& schedule, Buffers& buffers) { return start(schedule, buffers, *world_); }

core::Run& RecordingRig::start(const Schedule& schedule, Buffers& buffers, core::Communicator& communicator) {
  const std::array<std::byte*, 2> bases{buffers.send.data(), buffers.recv.data()};
  const core::Lock lock(engine());
  return communicator.start(std::make_unique<core::RunPool>(communicator, schedule), bases);
}

void RecordingRig::let_go(core::Run& run) {
  const core::Lock lock(engine());
  run.let_go();
}

void RecordingRig::poll() {
  const core::Lock lock(engine());
  engine().progress();
}

}  // namespace fab::test
