#include "core/communicator/persistent.h"

#include <fmt/core.h>

#include <utility>

#include "core/run/wait.h"
#include "core/run/watch.h"

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
      partition_(std::move(other.partition_)),
      active_(other.active_) {}

// The communicator goes after the lock: it may be the last owner of the context that has the lock.
Persistent::~Persistent() {
  if (communicator_ == nullptr) return;
  const Lock lock(engine());
  abandon_held_back();
  communicator_->give_back_persistent(*run_);
}

Engine& Persistent::engine() const noexcept { return communicator_->engine(); }

void Persistent::start() {
  if (active_)
    throw Error(Errc::invalid_argument,
                fmt::format("{}: started again before the last start was completed", run_->plan().schedule().name()));
  communicator_->start_persistent(*run_);
  if (partition_ != nullptr) partition_->open();
  active_ = true;
}

void Persistent::divide(std::unique_ptr<Partition> partition) {
  partition_ = std::move(partition);
  const Lock lock(engine());
  run_->hold_back();
}

Partition& Persistent::partition() const {
  if (partition_ == nullptr)
    throw Error(Errc::invalid_argument,
                fmt::format("{}: the blocks of this exchange have no parts", run_->plan().schedule().name()));
  return *partition_;
}

void Persistent::ready(std::size_t destination, std::size_t part) {
  const Arrival* const group = partition().mark(destination, part);
  if (group == nullptr) return;
  {
    const Lock lock(engine());
    run_->go_ahead(*group);
  }
  engine().hand_over_progress();
}

void Persistent::give_up_missing_parts() {
  if (partition_ == nullptr) return;
  const Lock lock(engine());
  abandon_held_back();
}

void Persistent::abandon_held_back() {
  if (!run_->holds_back()) return;
  constexpr const char* kReason = "given up before all parts were ready";
  communicator_->persistent_given_up(*run_, kReason);
  run_->abandon({make_error_code(Errc::cancelled), fmt::format("{}: {}", run_->plan().schedule().name(), kReason)});
}

bool Persistent::arrived(std::size_t source, std::size_t part, Status& status) {
  const Arrival* const group = partition().find_arrival(source, part);
  if (group == nullptr) return true;
  if (look_for(*group, status)) return true;
  engine().poll_once();
  if (look_for(*group, status)) return true;
  const Lock lock(engine());
  watch_tested(*run_, tested_);
  return false;
}

bool Persistent::look_for(const Arrival& group, Status& status) const {
  if (engine().halted()) {
    status = ended_by_fork();
    return true;
  }
  const Lock lock(engine());
  if (!run_->has_arrived(group)) return false;
  status = run_->status();
  return true;
}

Status Persistent::wait_part(std::size_t source, std::size_t part) {
  const Arrival* const group = partition().find_arrival(source, part);
  if (group == nullptr) return {};
  constexpr std::size_t kOnly = 0;
  return wait_any(*run_, {group, 1}, {&kOnly, 1}).status;
}

}  // namespace fab::core
