#include "core/job/membership.h"

#include <utility>
#include <vector>

namespace fab::core {

Membership::Membership(Runtime& runtime, Group group, Rank rank, std::optional<ContextId> id)
    : runtime_(runtime),
      group_(std::move(group)),
      rank_(rank),
      in_ledger_(runtime.ledger().add_communicator(group_.size())) {
  if (id) name(*id);
}

Membership::~Membership() = default;

void Membership::name(ContextId id) noexcept {
  scope_.id = id;
  runtime_.ledger().name(in_ledger_, id);
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

const NodeMap* Membership::nodes() const {
  std::call_once(nodes_looked_up_, [this] { nodes_ = find_nodes(); });
  return nodes_.get();
}

std::shared_ptr<const NodeMap> Membership::find_nodes() const {
  const std::shared_ptr<const NodeMap> job = runtime_.shared_nodes();
  if (job == nullptr) return nullptr;
  bool is_job = size() == job->ranks();
  for (Rank rank = 0; is_job && rank < size(); ++rank) is_job = world_rank(rank) == rank;
  if (is_job) return job;
  std::vector<int> node_of;
  for (Rank rank = 0; rank < size(); ++rank) node_of.push_back(job->node_of(world_rank(rank)));
  auto map = std::make_shared<const NodeMap>(NodeMap::of(node_of));
  return map->nodes() > 1 && map->largest() > 1 ? std::move(map) : nullptr;
}

CallWord Membership::call_word(const Schedule& schedule) const noexcept {
  return core::call_word(schedule.name(), runtime_.config().check);
}

}  // namespace fab::core
