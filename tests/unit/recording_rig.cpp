#include "unit/recording_rig.h"

#include <array>

namespace fab::test {

Config caller_config() {
  Config config = read_config([](const std::string&) { return std::nullopt; });
  config.progress = ProgressMode::caller;
  return config;
}

RecordingRig::RecordingRig(const Options& options) : others_(open_memory_stores(options.ranks)) {
  std::unique_ptr<Store> own = std::move(others_.front());
  others_.erase(others_.begin());
  context_ = core::Context::open(options.config, std::move(own), [&](const Config&, const JobInfo&, const Log&) {
    auto provider = std::make_unique<RecordingProvider>(options.capabilities);
    provider_ = provider.get();
    return provider;
  });
  world_ = context_->world();
  if (!options.published) return;
  for (Rank rank = 1; rank < options.ranks; ++rank) publish(rank);
}

std::shared_ptr<core::Communicator> RecordingRig::communicator(std::optional<core::ContextId> id) {
  return std::make_shared<core::Communicator>(context_, core::Group::range(0, context_->job().size), 0, id);
}

void RecordingRig::publish(Rank rank) {
  others_.at(static_cast<std::size_t>(rank - 1))->publish("fab.address", std::to_string(rank));
}

std::shared_ptr<core::Plan> RecordingRig::plan(const Schedule& schedule) {
  const core::Lock lock(engine().mutex);
  return std::make_shared<core::Plan>(*world_, schedule);
}

core::Run& RecordingRig::start(core::Plan& plan, std::span<std::byte* const> bases) {
  const core::Lock lock(engine().mutex);
  return plan.communicator().start(plan, bases);
}

core::Run& RecordingRig::start(core::Plan& plan, std::vector<std::byte>& send, std::vector<std::byte>& recv) {
  const std::array<std::byte*, 2> bases{send.data(), recv.data()};
  return start(plan, bases);
}

core::Run& RecordingRig::start(const Schedule& schedule, std::vector<std::byte>& send, std::vector<std::byte>& recv) {
  return start(*plan(schedule), send, recv);
}

void RecordingRig::let_go(core::Run& run) {
  const core::Lock lock(engine().mutex);
  run.let_go();
}

void RecordingRig::abandon(core::Run& run, const Status& reason) {
  const core::Lock lock(engine().mutex);
  run.abandon(reason);
}

void RecordingRig::poll() {
  const core::Lock lock(engine().mutex);
  engine().progress();
}

}  // namespace fab::test
