#include "fab/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "collectives/start.h"
#include "core/context.h"
#include "core/wait.h"
#include "fab/error.h"
#include "fab/request.h"

namespace fab {

namespace {

void check_ranks(std::span<const Rank> ranks, int size, const char* call) {
  for (const Rank rank : ranks)
    if (rank < 0 || rank >= size)
      throw Error(Errc::invalid_rank,
                  fmt::format("{}: rank {}; the communicator has ranks 0 to {}", call, rank, size - 1));
}

/// Rank 0 names the new communicator, the others learn the name.
core::ContextId agree_on_id(const std::shared_ptr<core::Communicator>& parent) {
  core::Context& context = parent->context();
  core::ContextId id{parent->world_rank(0), 0};
  if (parent->rank() == 0) id.number = context.new_context_id().number;
  Request request;
  {
    const core::Lock lock(context.engine().mutex);
    const Layout number = Layout::contiguous(sizeof(id.number));
    request = Request(parent, collectives::start(*parent, nullptr, &id.number, collectives::bcast_call(number, 0)));
  }
  request.wait();
  return id;
}

}  // namespace

Rank Communicator::rank() const noexcept { return core_->rank(); }

int Communicator::size() const noexcept { return core_->size(); }

const Topology* Communicator::topology() const noexcept { return core_->topology(); }

const Neighborhood& Communicator::neighborhood() const {
  if (topology() == nullptr) throw Error(Errc::invalid_topology, "neighborhood: the communicator has no topology");
  return core_->neighborhood();
}

std::optional<Communicator> Communicator::derive(std::span<const Rank> ranks, std::optional<Topology> topology) const {
  const core::ContextId id = agree_on_id(core_);
  const auto found = std::find(ranks.begin(), ranks.end(), rank());
  if (found == ranks.end()) return std::nullopt;
  std::vector<Rank> world_ranks;
  std::transform(ranks.begin(), ranks.end(), std::back_inserter(world_ranks),
                 [this](Rank rank) { return core_->world_rank(rank); });
  auto derived = std::make_shared<core::Communicator>(core_->context().shared_from_this(), core::Group::of(world_ranks),
                                                      static_cast<Rank>(found - ranks.begin()), id);
  if (topology) derived->set_topology(std::move(*topology));
  return Communicator(std::move(derived));
}

std::optional<Communicator> Communicator::derive_first(int count, Topology topology, const char* call) const {
  if (count > size())
    throw Error(Errc::invalid_topology, fmt::format("{}: {} has {} places; the communicator has {} ranks", call,
                                                    to_string(topology), count, size()));
  std::vector<Rank> first(static_cast<std::size_t>(count));
  std::iota(first.begin(), first.end(), 0);
  return derive(first, std::move(topology));
}

Communicator Communicator::duplicate() const {
  std::vector<Rank> all(static_cast<std::size_t>(size()));
  std::iota(all.begin(), all.end(), 0);
  return *derive(all, topology() == nullptr ? std::nullopt : std::optional<Topology>(*topology()));
}

std::optional<Communicator> Communicator::subset(std::span<const Rank> ranks) const {
  check_ranks(ranks, size(), "subset");
  if (std::set<Rank>(ranks.begin(), ranks.end()).size() != ranks.size())
    throw Error(Errc::invalid_rank, "subset: a rank is listed twice");
  return derive(ranks, std::nullopt);
}

std::optional<Communicator> Communicator::cartesian(std::vector<int> dims, std::vector<bool> periodic) const {
  Cartesian grid(std::move(dims), std::move(periodic));
  const int places = grid.size();
  return derive_first(places, std::move(grid), "cartesian");
}

std::optional<Communicator> Communicator::graph(std::vector<int> index, std::vector<int> edges) const {
  Graph whole(std::move(index), std::move(edges));
  const int places = whole.size();
  return derive_first(places, std::move(whole), "graph");
}

Communicator Communicator::distributed_graph(std::vector<int> sources, std::vector<int> destinations) const {
  check_ranks(sources, size(), "distributed_graph, sources");
  check_ranks(destinations, size(), "distributed_graph, destinations");
  std::vector<Rank> all(static_cast<std::size_t>(size()));
  std::iota(all.begin(), all.end(), 0);
  return *derive(all, DistributedGraph(std::move(sources), std::move(destinations)));
}

}  // namespace fab
