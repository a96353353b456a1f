// Communicator: makes new communicators of all ranks, of some, or with a topology, and checks the arguments for them.
#include "fab/communicator.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "bindings/native/communicators/broadcast.h"
#include "bindings/native/communicators/reorder.h"
#include "core/communicator/refused_call.h"
#include "core/context.h"
#include "fab/discover.h"
#include "fab/error.h"
#include "fab/mapping.h"

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
  broadcast(parent, &id.number, sizeof(id.number));
  return id;
}

std::vector<Rank> first_ranks(int count) {
  std::vector<Rank> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

template <class Shape>
void check_places(const Shape& topology, int ranks, const char* call) {
  if (topology.size() > ranks)
    throw Error(Errc::invalid_topology, fmt::format("{}: {} has {} places; the communicator has {} ranks", call,
                                                    to_string(Topology(topology)), topology.size(), ranks));
}

/// What a rank gets that must not be left over.
Communicator placed(std::optional<Communicator> made, const Communicator& parent, const char* call) {
  if (made) return *std::move(made);
  throw Error(Errc::invalid_topology,
              fmt::format("{}: rank {} of {} gets no place, as the topology has fewer; use {}_if if that is "
                          "intended",
                          call, parent.rank(), parent.size(), call));
}

void check_weights(std::span<const std::int64_t> weights, std::size_t destinations) {
  if (!weights.empty() && weights.size() != destinations)
    throw Error(
        Errc::invalid_argument,
        fmt::format("distributed_graph: {} weights are given; valid are one for each of the {} destinations, or "
                    "none",
                    weights.size(), destinations));
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] < 0)
      throw Error(Errc::invalid_argument,
                  fmt::format("distributed_graph: weights[{}] is {}; valid is 0 or more", i, weights[i]));
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
  auto derived = std::make_shared<core::Communicator>(core_->shared_context(), core::Group::of(world_ranks),
                                                      static_cast<Rank>(found - ranks.begin()), id);
  if (topology) derived->set_topology(std::move(*topology));
  return Communicator(std::move(derived));
}

Communicator Communicator::duplicate() const {
  return *derive(first_ranks(size()), topology() == nullptr ? std::nullopt : std::optional<Topology>(*topology()));
}

std::optional<Communicator> Communicator::subset(std::span<const Rank> ranks) const {
  check_ranks(ranks, size(), "subset");
  std::set<Rank> listed;
  for (const Rank rank : ranks)
    if (!listed.insert(rank).second)
      throw Error(Errc::invalid_rank, fmt::format("subset: rank {} is listed twice", rank));
  return derive(ranks, std::nullopt);
}

Communicator Communicator::cartesian(std::vector<int> dims, std::vector<bool> periodic, Reorder reorder,
                                     std::span<const std::int64_t> weights) const {
  return placed(cartesian_if(std::move(dims), std::move(periodic), reorder, weights), *this, "cartesian");
}

Communicator Communicator::graph(std::vector<int> index, std::vector<int> edges, Reorder reorder) const {
  return placed(graph_if(std::move(index), std::move(edges), reorder), *this, "graph");
}

std::optional<Communicator> Communicator::cartesian_if(std::vector<int> dims, std::vector<bool> periodic,
                                                       Reorder reorder, std::span<const std::int64_t> weights) const {
  Cartesian grid(std::move(dims), std::move(periodic));
  check_places(grid, size(), "cartesian");
  if (reorder == Reorder::no) return derive(first_ranks(grid.size()), std::move(grid));
  const std::vector<Rank> ranks = agree_on_ranks(
      core_, grid.size(), [&](std::span<const int> nodes) { return Mapping::bricks(grid, nodes, weights); });
  return derive(ranks, std::move(grid));
}

std::optional<Communicator> Communicator::graph_if(std::vector<int> index, std::vector<int> edges,
                                                   Reorder reorder) const {
  Graph whole(std::move(index), std::move(edges));
  check_places(whole, size(), "graph");
  if (reorder == Reorder::no) return derive(first_ranks(whole.size()), std::move(whole));
  const std::vector<Rank> ranks = agree_on_ranks(
      core_, whole.size(), [&](std::span<const int> nodes) { return Mapping::partition(Traffic::of(whole), nodes); });
  return derive(ranks, std::move(whole));
}

Communicator Communicator::distributed_graph(std::vector<int> sources, std::vector<int> destinations, Reorder reorder,
                                             std::vector<std::int64_t> weights) const {
  check_ranks(sources, size(), "distributed_graph, sources");
  check_ranks(destinations, size(), "distributed_graph, destinations");
  check_weights(weights, destinations.size());
  if (reorder == Reorder::no)
    return *derive(first_ranks(size()), DistributedGraph(std::move(sources), std::move(destinations)));
  auto [ranks, edges] = agree_on_ranks(core_, {std::move(sources), std::move(destinations), std::move(weights)});
  return *derive(ranks, DistributedGraph(std::move(edges.sources), std::move(edges.destinations)));
}

Communicator Communicator::distributed_graph_to(std::vector<int> destinations, Reorder reorder,
                                                std::vector<std::int64_t> weights) const {
  core::in_order(*core_, [&] { check_weights(weights, destinations.size()); });
  std::vector<int> sources = discover(*this, destinations);
  return distributed_graph(std::move(sources), std::move(destinations), reorder, std::move(weights));
}

}  // namespace fab
