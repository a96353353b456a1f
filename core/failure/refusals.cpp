#include "core/failure/refusals.h"

#include <utility>

namespace fab::core {

void Refusals::add(const CallPlace& place, const std::string& reason) {
  own_.push_back({place, reason});
  if (own_.size() > kMost) own_.pop_front();
  if (!std::exchange(listening_, true)) {
    engine_.activated();
    courier_().listen_to_node();
  }
  for (const Rank asker : askers_) tell(asker, own_.back());
}

void Refusals::ask(Rank world_rank) {
  if (world_rank == self_ || !asked_.insert(world_rank).second) return;
  courier_().ask_refusals(world_rank);
}

const Refusals::Refusal* Refusals::find(const CallPlace& place) const {
  if (told_.empty()) return nullptr;
  const auto found = told_.find(place.key());
  return found == told_.end() ? nullptr : &found->second;
}

void Refusals::stop_listening() {
  if (std::exchange(listening_, false)) engine_.deactivated();
}

void Refusals::asked_by(Rank world_rank) {
  if (!askers_.insert(world_rank).second) return;
  for (const Own& own : own_) tell(world_rank, own);
}

void Refusals::tell(Rank world_rank, const Own& own) { courier_().tell_refusal(world_rank, own.place, own.reason); }

void Refusals::told_by(Rank world_rank, const CallPlace& place, std::span<const char> reason) {
  if (told_.size() >= kMost) told_.erase(told_.begin());
  told_.insert_or_assign(place.key(), Refusal{world_rank, {reason.begin(), reason.end()}});
}

}  // namespace fab::core
