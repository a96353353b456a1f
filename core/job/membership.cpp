#include "core/job/membership.h"

#include <utility>

namespace fab::core {

Membership::Membership(Runtime& runtime, Group group, Rank rank, std::optional<ContextId> id)
    : runtime_(runtime), group_(std::move(group)), rank_(rank) {
  if (id) name(*id);
}

Membership::~Membership() = default;

void Membership::name(ContextId id) noexcept {
  scope_.id = id;
  context_tag_ = runtime_.tags().context(id);
}

bool Membership::has_member(Rank world_rank) const {
  for (Rank rank = 0; rank < size(); ++rank)
    if (this->world_rank(rank) == world_rank) return true;
  return false;
}

bool Membership::is_on_one_node() const {
  for (Rank rank = 0; rank < size(); ++rank)
    if (!runtime_.peers().is_near(world_rank(rank))) return false;
  return true;
}

CallWord Membership::call_word(const Schedule& schedule) const noexcept {
  return core::call_word(schedule.name(), runtime_.config().check);
}

}  // namespace fab::core
