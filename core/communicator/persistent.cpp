#include "core/communicator/persistent.h"

#include <fmt/core.h>

#include <utility>

namespace fab::core {

Persistent::Persistent(std::shared_ptr<Communicator> communicator, PlanSource source, std::span<std::byte* const> bases,
                       const UserReduction& user, std::string_view words)
    : communicator_(std::move(communicator)) {
  {
    const Lock lock(engine());
    run_ = &communicator_->make_persistent(std::move(source), bases, user, words);
  }
  engine().hand_over_progress();  // the peers may be being told of this rank's memory
}

Persistent::Persistent(Persistent&& other) noexcept
    : communicator_(std::move(other.communicator_)),
      run_(other.run_),
      sources_(std::move(other.sources_)),
      active_(other.active_) {}

// The communicator goes after the lock: it may be the last owner of the context that has the lock.
Persistent::~Persistent() {
  if (communicator_ == nullptr) return;
  const Lock lock(engine());
  communicator_->give_back_persistent(*run_);
}

Engine& Persistent::engine() const noexcept { return communicator_->engine(); }

void Persistent::start() {
  if (active_)
    throw Error(Errc::invalid_argument,
                fmt::format("{}: started again before the last start was completed", run_->plan().schedule().name()));
  communicator_->start_persistent(*run_);
  active_ = true;
}

}  // namespace fab::core
