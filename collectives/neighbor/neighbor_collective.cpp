#include "collectives/neighbor/neighbor_collective.h"

#include <fmt/core.h>

#include <numeric>
#include <utility>

#include "collectives/calls/brief.h"
#include "collectives/calls/buffers.h"
#include "collectives/calls/call_kinds.h"
#include "collectives/neighbor/edges.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

constexpr const char* kNames[] = {"neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall",
                                  "neighbor_alltoallv"};

const char* name_of(const NeighborCollective& call) { return kNames[static_cast<std::size_t>(call.call)]; }

bool sends_one_block(const NeighborCollective& call) {
  return call.call == NeighborCall::allgather || call.call == NeighborCall::allgatherv;
}

void check_block_count(const NeighborCollective& call, std::size_t blocks, std::size_t needed, const char* side) {
  if (blocks != needed)
    throw Error(Errc::invalid_argument,
                fmt::format("{}: {} {} blocks; this rank needs {}", name_of(call), blocks, side, needed));
}

const Topology& topology_of(const core::Communicator& communicator, const NeighborCollective& call) {
  if (communicator.topology() == nullptr)
    throw Error(Errc::invalid_topology, fmt::format("{}: the communicator has no topology", name_of(call)));
  return *communicator.topology();
}

EdgeBlocks edge_blocks(const Topology& topology, const Neighborhood& edges, int ranks, const NeighborCollective& call) {
  const StandardOrder order = standard_order(topology, edges);
  const StandardBlocks blocks = standard_blocks(topology, edges);
  const bool one_block = sends_one_block(call);
  check_block_count(call, (call.in_place ? call.recv : call.send).size(), one_block ? 1 : blocks.send, "send");
  check_block_count(call, call.recv.size(), blocks.recv, "receive");

  EdgeBlocks result{.builder = {name_of(call), ranks}};
  for (const std::size_t block : order.destinations)
    result.outgoing.push_back(call.in_place ? call.recv[block].in(BufferId::recv)
                                            : call.send[one_block ? 0 : block].in(BufferId::send));
  for (const std::size_t block : order.sources) result.incoming.push_back(call.recv[block].in(BufferId::recv));
  if (call.in_place) result.outgoing = copy_aside(result.builder, result.outgoing);
  return result;
}

Schedule build(const core::Communicator& communicator, const NeighborCollective& call) {
  return build_neighbor_collective(topology_of(communicator, call), communicator.rank(), communicator.size(), call,
                                   communicator.commit_options());
}

}  // namespace

StandardBlocks standard_blocks(const Topology& topology, const Neighborhood& neighborhood) noexcept {
  const auto* grid = std::get_if<Cartesian>(&topology);
  if (grid == nullptr) return {neighborhood.destinations.size(), neighborhood.sources.size()};
  const auto blocks = 2 * static_cast<std::size_t>(grid->dimensions());
  return {blocks, blocks};
}

// A Cartesian edge's slot is twice its dimension, and one more if its data travels in direction -1
// (Cartesian::neighborhood); it comes from the neighbour in the other direction.
StandardOrder standard_order(const Topology& topology, const Neighborhood& neighborhood) {
  StandardOrder order;
  if (std::holds_alternative<Cartesian>(topology)) {
    for (const Edge& edge : neighborhood.destinations) order.destinations.push_back(edge.slot ^ 1);
    for (const Edge& edge : neighborhood.sources) order.sources.push_back(edge.slot);
    return order;
  }
  order.destinations.resize(neighborhood.destinations.size());
  order.sources.resize(neighborhood.sources.size());
  std::iota(order.destinations.begin(), order.destinations.end(), std::size_t{0});
  std::iota(order.sources.begin(), order.sources.end(), std::size_t{0});
  return order;
}

Schedule build_neighbor_collective(const Topology& topology, Rank self, int ranks, const NeighborCollective& call,
                                   const CommitOptions& options) {
  const Neighborhood edges = neighborhood(topology, self);
  auto [builder, outgoing, incoming] = edge_blocks(topology, edges, ranks, call);
  exchange_along(edges, self, builder, outgoing, incoming, name_of(call));
  return builder.commit(options);
}

core::Persistent make_neighbor_collective(std::shared_ptr<core::Communicator> communicator, const void* send,
                                          void* recv, const NeighborCollective& call, const PersistentUse& use) {
  const Topology& topology = topology_of(*communicator, call);
  const Neighborhood& edges = communicator->neighborhood();
  EdgeBlocks blocks = edge_blocks(topology, edges, communicator->size(), call);
  return make_persistent(communicator, buffers(send, recv), edges, std::move(blocks), name_of(call), use);
}

core::Run& start_neighbor_collective(core::Communicator& communicator, const void* send, void* recv,
                                     const NeighborCollective& call) {
  static_cast<void>(topology_of(communicator, call));
  constexpr auto kId = static_cast<std::uint64_t>(Call::neighbor_collective);
  const std::uint64_t which = static_cast<std::uint64_t>(call.call) << 1 | (call.in_place ? 1u : 0u);
  const BlockList none;
  const BlockList& sent = call.in_place ? none : call.send;
  const auto describe = [&](core::CallShape& shape) {
    shape.add(which);
    if (!call.in_place) sent.describe(shape);
    call.recv.describe(shape);
  };
  const auto bases = buffers(send, recv);
  return start_by_brief(communicator, brief_of(kId << 24 | which << 8, sent, call.recv), sent, call.recv, bases, {},
                        [&]() FAB_REQUIRES(core::engine_lock) -> core::Run& {
                          return communicator.start(kId, describe, bases, [&] { return build(communicator, call); });
                        });
}

}  // namespace fab::collectives
